/** Text in an XML document. */
const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

export function xmlText(text: string): string {
  return text.replace(/[&<>"]/g, (mark) => ESCAPES[mark] ?? mark);
}
