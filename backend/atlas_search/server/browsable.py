"""The page at which the API can be tried. That of the library has its script inline, and a field
to load the description of any other site's API."""

BROWSABLE = """<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Atlas API</title>
    <link rel="icon" href="../static/favicon.svg" type="image/svg+xml" />
    <link rel="stylesheet" href="swagger/css/swagger-ui.css" />
    <script defer src="swagger/js/swagger-ui-bundle.js"></script>
    <script defer src="../static/swagger.js"></script>
  </head>
  <body>
    <div id="swagger-ui"></div>
  </body>
</html>
"""
