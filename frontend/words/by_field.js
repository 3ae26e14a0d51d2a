/** Hits and documents by corpus or by a metadata field. */

import { askButton } from "./ask_about.js";
import { cellTable } from "./cell_table.js";
import { wordsOf } from "./counting.js";
import { pointOf } from "./points.js";
import { countSummary } from "./summary.js";

/** {summary, nodes} of the counts. */
export async function byField(state, tools) {
  const { field } = state;
  const found = await tools.count("counts", { ...wordsOf(state), by: field });
  const open = (cell) => tools.go({ tab: "lines", point: pointOf(field, cell) });
  return {
    summary: countSummary(found),
    nodes: [cellTable(found, { ...tools, open, name: "counts", asking: askButton(state, tools) })],
  };
}
