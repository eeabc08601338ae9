/** Mask rules as lines of text: `header: X-Api-Key`. Pure: tested without a browser. */
import type { Schemas } from '../../../api/types.ts';

export type MaskRule = Schemas['MaskRule'];

/** Word of a line → name of the rule in the API. */
const KINDS = { header: 'header', json: 'json_path', query: 'query', form: 'form' } as const;
type Word = keyof typeof KINDS;

/** One rule a line. */
export function maskText(rules: readonly MaskRule[]): string {
  return rules.map(lineOf).join('\n');
}

function lineOf(rule: MaskRule): string {
  if ('header' in rule) return `header: ${rule.header}`;
  if ('json_path' in rule) return `json: ${rule.json_path}`;
  return 'query' in rule ? `query: ${rule.query}` : `form: ${rule.form}`;
}

type Read = { readonly rules: readonly MaskRule[] } | { readonly problem: string };

/** The server checks names and paths; here only the word of each line. */
export function maskRulesIn(text: string): Read {
  const rules: MaskRule[] = [];
  for (const line of text.split('\n').map((one) => one.trim())) {
    if (line === '') continue;
    const [, word = '', value = ''] = /^([a-z]+)\s*:\s*(\S.*)$/i.exec(line) ?? [];
    const kind = word.toLowerCase();
    if (!isWord(kind))
      return {
        problem: `"${line.slice(0, 60)}" is not a rule. Write header, json, query or form, a colon, and the name.`,
      };
    rules.push({ [KINDS[kind]]: value } as MaskRule);
  }
  return { rules };
}

function isWord(text: string): text is Word {
  return Object.hasOwn(KINDS, text);
}
