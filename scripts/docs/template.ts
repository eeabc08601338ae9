/** The HTML document around a page of the documentation. Addresses are relative, for the API is served under `/api` too. */
import type { Heading } from './render.ts';
import { escapeHtml } from './render.ts';

export interface PageLink {
  readonly slug: string;
  readonly title: string;
}

export interface PageParts {
  readonly title: string;
  readonly description: string;
  readonly slug: string;
  /** Of the page itself. */
  readonly body: string;
  readonly headings: readonly Heading[];
  readonly groups: ReadonlyArray<{ readonly title: string; readonly pages: readonly PageLink[] }>;
  /** Names below `assets/`. */
  readonly assets: { readonly style: string; readonly script: string; readonly index: string };
}

const hrefOf = (slug: string): string => (slug === '' ? './' : slug);

export function pageDocument({ title, description, slug, body, headings, groups, assets }: PageParts): string {
  const isHome = slug === '';
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="${escapeHtml(description)}">
<title>${escapeHtml(title)}${isHome ? '' : ' - Culvert documentation'}</title>
<link rel="stylesheet" href="assets/${assets.style}">
<link rel="icon" href="data:,">
<script type="module" src="assets/${assets.script}"></script>
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
<header>
<a class="brand" href="./">Culvert documentation</a>
<a class="to-pages" href="#pages">All pages</a>
<search class="search">
<input id="search" type="search" placeholder="Search" aria-label="Search the documentation" autocomplete="off" spellcheck="false" data-index="assets/${assets.index}">
<span id="found" role="status"></span>
<ul id="results" aria-label="Results" hidden></ul>
</search>
<nav class="links" aria-label="Elsewhere"><a href="../app/">Dashboard</a><a href="api/">API reference</a></nav>
</header>
<div class="frame">
<main id="main" tabindex="-1">
${body}${neighbours(slug, groups)}</main>
${contents(headings)}<nav class="pages" id="pages" aria-label="Pages">
${groups.map((group) => `<h2>${escapeHtml(group.title)}</h2>\n<ul>\n${group.pages.map((page) => entry(page, slug)).join('\n')}\n</ul>`).join('\n')}
</nav>
</div>
</body>
</html>
`;
}

function entry(page: PageLink, here: string): string {
  const current = page.slug === here ? ' aria-current="page"' : '';
  return `<li><a href="${hrefOf(page.slug)}"${current}>${escapeHtml(page.title)}</a></li>`;
}

/** The sections of a long page. */
function contents(headings: readonly Heading[]): string {
  const sections = headings.filter(({ depth }) => depth === 2);
  if (sections.length < 3) return '';
  const items = sections.map(({ text, anchor }) => `<li><a href="#${anchor}">${escapeHtml(text)}</a></li>`).join('\n');
  return `<nav class="toc" aria-label="On this page">\n<h2>On this page</h2>\n<ul>\n${items}\n</ul>\n</nav>\n`;
}

function neighbours(slug: string, groups: PageParts['groups']): string {
  const all = groups.flatMap(({ pages }) => pages);
  const here = all.findIndex((page) => page.slug === slug);
  const link = (page: PageLink | undefined, rel: string, mark: (title: string) => string): string =>
    page === undefined
      ? '<span></span>'
      : `<a rel="${rel}" href="${hrefOf(page.slug)}">${mark(escapeHtml(page.title))}</a>`;
  const before = here > 0 ? all[here - 1] : undefined;
  const after = all[here + 1];
  return `<nav class="next" aria-label="Previous and next page">${link(before, 'prev', (title) => `← ${title}`)}${link(after, 'next', (title) => `${title} →`)}</nav>\n`;
}
