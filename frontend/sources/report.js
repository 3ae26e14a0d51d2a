/** What became of the files of a job, in the reader's words. */

import { element } from "../dom.js";
import { say } from "../language.js";

/** A section on a job that is over; `ask` asks the question, if there is one to try. */
export function reportOf(job, { label, question }, ask) {
  const { corpus, files, left_out: leftOut, more_left_out: more, result, problem } = job;
  if (!result) {
    const failed = say("sources.failed", { problem });
    return element("section", { class: "failed" }, element("p", {}, failed));
  }
  if (files.length + leftOut.length === 0) {
    return element(
      "section",
      {},
      element("h3", {}, label),
      element("p", {}, say("sources.saved")),
    );
  }
  const own = (remark) => ({ ...remark, source: remark.source.replace(`${corpus}/`, "") });
  const remarks = result.remarks.map(own);
  const refused = remarks.filter((remark) => remark.refused);
  const out = [
    ...leftOut.map(({ name, reason }) => [name, reason]),
    ...refused.map(({ source, remarks: reasons }) => [source, reasons.join("; ")]),
  ];
  const partly = remarks
    .filter((remark) => !remark.refused)
    .map(({ source, remarks: reasons }) => [source, reasons.join("; ")]);
  const read = files.length - refused.length;
  const missing = out.length + more;
  return element(
    "section",
    {},
    element("h3", {}, label),
    element(
      "p",
      { class: "sum" },
      say("sources.sum", {
        files: say("sources.fileCount", { count: read + missing }),
        read,
        missing,
        documents: say("page.documents", { count: result.documents_added }),
      }),
    ),
    missing > 0 ? list(say("sources.leftOut"), out) : null,
    more > 0 ? element("p", {}, say("sources.more", { count: more })) : null,
    partly.length > 0 ? list(say("sources.partly"), partly) : null,
    question ? tryIt(question, ask) : null,
  );
}

function list(title, rows) {
  const items = rows.map(([name, reason]) =>
    element("li", {}, element("strong", {}, name), ": ", reason),
  );
  return element("div", {}, element("h4", {}, title), element("ul", {}, ...items));
}

function tryIt(question, ask) {
  const button = { type: "button", class: "primary", onclick: () => ask(question) };
  return element(
    "div",
    {},
    element("h4", {}, say("sources.try")),
    element("button", button, question.question),
  );
}
