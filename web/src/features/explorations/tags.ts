/** The words of a field of tags, each once. */
export const toTags = (text: string): string[] => [...new Set(text.split(/[\s,]+/).filter(Boolean))];
