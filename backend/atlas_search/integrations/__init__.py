"""Ways in for programs of others: MCP, chat front ends, LangChain, LlamaIndex, Haystack."""
