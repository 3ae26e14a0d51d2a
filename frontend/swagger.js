/** The page at which the API can be tried: begins Swagger UI, which another script has loaded. */

globalThis.SwaggerUIBundle({
  url: new URL("openapi.json", document.baseURI).href,
  dom_id: "#swagger-ui",
  deepLinking: true,
  presets: [globalThis.SwaggerUIBundle.presets.apis],
  layout: "BaseLayout",
  validatorUrl: null, // a site elsewhere, which would be sent the address of this one
});
