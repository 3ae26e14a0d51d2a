"""Laws: acts, regulations and bills in the schemas of those who publish them."""
