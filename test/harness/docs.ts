/** README.md, SECURITY.md and the pages of `docs/` as the tests read them: prose, code, tables and links. */
import { readdirSync, readFileSync } from 'node:fs';
import { readPages } from '../../scripts/docs/pages.ts';

const ROOT = new URL('../../', import.meta.url);

export interface Document {
  /** `docs/install.md` */
  readonly path: string;
  readonly text: string;
}

/** README.md, SECURITY.md and every page. */
export function documents(): readonly Document[] {
  const beside = ['README.md', 'SECURITY.md'];
  return [
    ...beside.map((path) => ({ path, text: readFileSync(new URL(path, ROOT), 'utf8') })),
    ...readPages().map(({ file, text }) => ({ path: `docs/${file}`, text })),
  ];
}

/** CONTRIBUTING.md, ARCHITECTURE.md, the recipes and the decision records: for contributors, and not served at `/docs/`. */
export function contributorDocuments(): readonly Document[] {
  const below = ['contributing', 'decisions'].flatMap((folder) =>
    readdirSync(new URL(`docs/${folder}`, ROOT))
      .toSorted()
      .map((name) => `docs/${folder}/${name}`),
  );
  return ['CONTRIBUTING.md', 'ARCHITECTURE.md', ...below].map((path) => ({
    path,
    text: readFileSync(new URL(path, ROOT), 'utf8'),
  }));
}

export interface CodeBlock {
  readonly language: string;
  readonly code: string;
}

export function codeBlocks({ text }: Document): readonly CodeBlock[] {
  return Array.from(text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm), ([, language = '', code = '']) => ({
    language,
    code,
  }));
}

export function withoutCode(text: string): string {
  return text.replace(/^```\w*\n[\s\S]*?^```$/gm, '');
}

/** What stands in backticks outside of code blocks. */
export function inlineCode({ text }: Document): readonly string[] {
  return Array.from(withoutCode(text).matchAll(/`([^`\n]+)`/g), ([, code = '']) => code);
}

/** The rows of the first table under a heading, as cells without backticks; without the head. */
export function tableUnder(text: string, heading: string): readonly (readonly string[])[] {
  const [, below = ''] = text.split(new RegExp(`^#+ ${heading}\\n`, 'm'));
  const [section = ''] = below.split(/^#+ /m);
  const lines = section.split('\n');
  const start = lines.findIndex((line) => line.startsWith('|'));
  const length = lines.slice(start).findIndex((line) => !line.startsWith('|'));
  return (start < 0 ? [] : lines.slice(start + 2, length < 0 ? undefined : start + length)).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll('`', '')),
  );
}

/** Sentences of paragraphs, list items and cells; code counts as one word. */
export function sentences({ text }: Document): readonly string[] {
  const prose = withoutCode(text)
    .replace(/^#+ .*$/gm, '')
    .replace(/^\|[-|]+\|$/gm, '')
    .replace(/`[^`\n]+`/g, 'code')
    .replace(/\[([^\]]+)\]\([^)]+\)/g, '$1');
  const blocks = prose.split(/\n\s*\n|^\s*(?:[-*]|\d+\.) |\||\n(?=\|)/m);
  return blocks
    .flatMap((block) => block.replace(/\s+/g, ' ').split(/(?<=[.!?])\s+/))
    .map((sentence) => sentence.trim())
    .filter((sentence) => /\w/.test(sentence));
}
