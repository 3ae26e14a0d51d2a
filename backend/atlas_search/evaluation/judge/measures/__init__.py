"""What a judge measures, by the definitions of RAGAS and DeepEval, with prompts of our own."""
