"""Building a collection from XML: TEI editions and parliamentary debates."""
