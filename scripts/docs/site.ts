/** All files of the documentation's site, by name: a document per page, and the search index. Styles and script are built beside (build-docs.mjs). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type SearchEntry, wordsOf } from '../../src/docs-site/search.ts';
import { DOCS, type DocsPage, navigation, readPages } from './pages.ts';
import { render, sectionsOf } from './render.ts';
import { pageDocument, type PageParts } from './template.ts';

/** Files beside `docs/` that are pages of the site too. */
const BESIDE = [
  {
    path: 'CHANGELOG.md',
    slug: 'changelog',
    title: 'Changelog',
    keywords: ['release notes', 'versions', 'what is new'],
  },
  {
    path: 'SECURITY.md',
    slug: 'security-policy',
    title: 'Security policy',
    keywords: ['report a vulnerability', 'CVE', 'disclosure', 'supported versions'],
  },
] as const;

interface SitePage extends Pick<DocsPage, 'slug' | 'title' | 'description' | 'keywords' | 'text'> {
  /** Below the root: `docs/install.md`. */
  readonly path: string;
}

function sitePages(): readonly SitePage[] {
  const beside = BESIDE.map(({ path, slug, title, keywords }) => ({
    ...{ path, slug, title, keywords, description: title },
    text: readFileSync(join(DOCS, '..', path), 'utf8'),
  }));
  return [...readPages().map((page) => ({ ...page, path: `docs/${page.file}` })), ...beside];
}

/** Slug → document. */
export function siteDocuments(assets: PageParts['assets']): ReadonlyMap<string, string> {
  const pages = sitePages();
  const slugs = new Map(pages.map(({ path, slug }) => [path, slug]));
  const groups = groupsOf(pages);
  return new Map(
    pages.map(({ slug, title, description, text, path }) => {
      const { html, headings } = render(text, path, slugs);
      return [slug, pageDocument({ title, description, slug, body: html, headings, groups, assets })];
    }),
  );
}

function groupsOf(pages: readonly SitePage[]): PageParts['groups'] {
  const [home] = readPages();
  if (home === undefined) throw new Error('docs/ has no home page');
  const byPath = new Map(pages.map((page) => [page.path, page]));
  const groups = navigation(home).map(({ title, files }) => ({
    title,
    pages: files.flatMap((file) => byPath.get(`docs/${file}`) ?? []),
  }));
  return [...groups, { title: 'Project', pages: pages.filter(({ path }) => !path.startsWith('docs/')) }];
}

/** Every page and every section, for the search in the browser. The changelog is a page without sections: its headings say no topic. */
export function searchIndex(): readonly SearchEntry[] {
  return sitePages().flatMap(({ slug, title, text, keywords, path }) => {
    const sections = path === 'CHANGELOG.md' ? [] : sectionsOf(text);
    const own = sections.filter(({ heading }) => heading !== '');
    return [
      {
        url: slug,
        title,
        heading: '',
        keywords: keywords.map((word) => word.toLowerCase()),
        words: unique(sections[0]?.text ?? ''),
      },
      ...own.map((section) => ({
        ...{ url: `${slug === '' ? './' : slug}#${section.anchor}`, title, heading: section.heading, keywords: [] },
        words: unique(section.text),
      })),
    ];
  });
}

function unique(text: string): string {
  return [...new Set(wordsOf(text))].join(' ');
}
