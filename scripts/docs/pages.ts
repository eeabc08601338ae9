/** The pages of `docs/`: front matter, text and place in the navigation. Read by the build (build-docs.ts) and by the tests that hold the pages. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const DOCS = join(import.meta.dirname, '../../docs');
/** The home page: its tables are the navigation. */
const HOME = 'README.md';

export interface DocsPage {
  /** `install.md` */
  readonly file: string;
  /** Its address below `/docs/`; empty for the home page. */
  readonly slug: string;
  readonly title: string;
  readonly description: string;
  /** Words that people of other products search by. */
  readonly keywords: readonly string[];
  /** The page as a file has it. */
  readonly source: string;
  /** Markdown without the front matter. */
  readonly text: string;
}

export interface NavGroup {
  readonly title: string;
  readonly files: readonly string[];
}

/** All pages, the home page first. @throws Error when a page has no title, description or keywords. */
export function readPages(folder: string = DOCS): readonly DocsPage[] {
  const files = readdirSync(folder).filter((name) => name.endsWith('.md'));
  const rest = files.filter((name) => name !== HOME).toSorted();
  return [HOME, ...rest].map((file) => readPage(file, readFileSync(join(folder, file), 'utf8')));
}

function readPage(file: string, source: string): DocsPage {
  const [, head = '', text = ''] = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(source) ?? [];
  const fields = new Map(Array.from(head.matchAll(/^(\w+): (.+)$/gm), ([, key = '', value = '']) => [key, value]));
  const title = /^# (.+)$/m.exec(text)?.[1];
  const [description, keywords] = [fields.get('description'), fields.get('keywords')];
  if (title === undefined || description === undefined || keywords === undefined)
    throw new Error(`docs/${file}: needs front matter with description and keywords, and a title`);
  const slug = file === HOME ? '' : file.replace(/\.md$/, '');
  return { file, slug, title, description, keywords: keywords.split(',').map((word) => word.trim()), source, text };
}

/** The groups of the home page, in its order. */
export function navigation(home: DocsPage): readonly NavGroup[] {
  return home.text
    .split(/^## /m)
    .slice(1)
    .map((section) => ({
      title: section.split('\n', 1)[0] ?? '',
      files: Array.from(section.matchAll(/^\| \[[^\]]+\]\(([\w-]+\.md)\)/gm), ([, file = '']) => file),
    }));
}

/** The anchor of a heading, as GitHub makes it. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll('`', '')
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');
}
