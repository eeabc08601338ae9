/** Markdown → HTML of the documentation's pages. Links between files become links between pages; raw HTML is a mistake. */
import { dirname, join } from 'node:path';
import { Marked, type Token, type Tokens } from 'marked';
import { anchorOf } from './pages.ts';

export interface Heading {
  readonly depth: number;
  readonly text: string;
  readonly anchor: string;
}

export interface Rendered {
  readonly html: string;
  readonly headings: readonly Heading[];
}

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => ESCAPES[sign] ?? sign);
}

/** The API reference is no page of Markdown. */
const REFERENCE = '<code>/docs/api/</code>';

/**
 * `path`: where the file is, below the root (`docs/install.md`). `slugs`: of all pages, by path.
 * @throws Error at raw HTML, and at a link to a file that is no page.
 */
export function render(text: string, path: string, slugs: ReadonlyMap<string, string>): Rendered {
  const headings: Heading[] = [];
  const marked = new Marked({ gfm: true });
  marked.use({
    renderer: {
      heading({ tokens, depth, text: source }: Tokens.Heading): string {
        const heading = { depth, text: source.replaceAll('`', ''), anchor: anchorOf(source) };
        headings.push(heading);
        const inner = this.parser.parseInline(tokens);
        if (depth === 1) return `<h1>${inner}</h1>\n`;
        const label = escapeHtml(heading.text);
        return `<h${depth} id="${heading.anchor}">${inner}<a class="anchor" href="#${heading.anchor}" aria-label="Link to ${label}">#</a></h${depth}>\n`;
      },
      link({ href, tokens }: Tokens.Link): string {
        return `<a href="${escapeHtml(pageLink(href, path, slugs))}">${this.parser.parseInline(tokens)}</a>`;
      },
      // Long lines scroll: by keyboard too.
      code: ({ text: code }: Tokens.Code) =>
        `<div class="code"><pre tabindex="0"><code>${escapeHtml(code)}\n</code></pre></div>\n`,
      codespan: ({ text: code }: Tokens.Codespan) => {
        const html = `<code>${escapeHtml(code)}</code>`;
        return html === REFERENCE ? `<a href="api/">${html}</a>` : html;
      },
      table(token: Tokens.Table): string {
        const cells = (row: readonly Tokens.TableCell[], tag: string): string =>
          row.map((cell) => `<${tag}>${this.parser.parseInline(cell.tokens)}</${tag}>`).join('');
        const rows = token.rows.map((row) => `<tr>${cells(row, 'td')}</tr>`).join('\n');
        const label = escapeHtml(headings.at(-1)?.text ?? 'Table');
        return `<div class="table" role="region" aria-label="${label}" tabindex="0"><table>\n<thead><tr>${cells(token.header, 'th')}</tr></thead>\n<tbody>${rows}</tbody></table></div>\n`;
      },
      html: ({ text: raw }: Tokens.HTML | Tokens.Tag) => {
        throw new Error(`${path}: raw HTML: ${raw}`);
      },
    },
  });
  return { html: marked.parse(text, { async: false }), headings };
}

function pageLink(href: string, path: string, slugs: ReadonlyMap<string, string>): string {
  if (href.startsWith('https:') || href.startsWith('#')) return href;
  const [file = '', anchor] = href.split('#');
  const slug = slugs.get(join(dirname(path), file));
  if (slug === undefined) throw new Error(`${path}: ${href} leads to no page`);
  return `${slug === '' ? './' : slug}${anchor === undefined ? '' : `#${anchor}`}`;
}

/** The sections of a page as plain text: heading and words; the first one is what stands before the first heading. */
export function sectionsOf(text: string): ReadonlyArray<{ heading: string; anchor: string; text: string }> {
  const sections = [{ heading: '', anchor: '', text: '' }];
  for (const token of new Marked({ gfm: true }).lexer(text)) {
    if (token.type === 'heading' && token.depth > 1) {
      const { text: heading } = token as Tokens.Heading;
      sections.push({ heading: heading.replaceAll('`', ''), anchor: anchorOf(heading), text: '' });
    } else {
      const last = sections.at(-1);
      if (last !== undefined) last.text += ` ${plainText(token)}`;
    }
  }
  return sections;
}

function plainText(token: Token): string {
  return token.raw.replace(/\]\([^)]*\)/g, ' ');
}
