/**
 * The files of the page, as text inside the program: a single executable has no folder beside it. Nothing is inline and nothing comes
 * from another host, so that the policy (guard.ts) can forbid all of that.
 */
import { BODIES_SCRIPT } from './scripts/bodies-script.ts';
import { CURL_SCRIPT } from './scripts/curl-script.ts';
import { DETAIL_SCRIPT } from './scripts/detail-script.ts';
import { LIST_SCRIPT } from './scripts/list-script.ts';
import { MAIN_SCRIPT } from './scripts/main-script.ts';
import { PARTS_SCRIPT } from './scripts/parts-script.ts';
import { PAGE } from './document.ts';
import { STYLE } from './style.ts';

export interface PageFile {
  readonly type: string;
  readonly text: string;
}

const SCRIPT_TYPE = 'text/javascript; charset=utf-8';

const script = (text: string): PageFile => ({ type: SCRIPT_TYPE, text });

/** By path. */
export const PAGE_FILES: ReadonlyMap<string, PageFile> = new Map([
  ['/', { type: 'text/html; charset=utf-8', text: PAGE }],
  ['/page.css', { type: 'text/css; charset=utf-8', text: STYLE }],
  ['/main.js', script(MAIN_SCRIPT)],
  ['/parts.js', script(PARTS_SCRIPT)],
  ['/list.js', script(LIST_SCRIPT)],
  ['/detail.js', script(DETAIL_SCRIPT)],
  ['/bodies.js', script(BODIES_SCRIPT)],
  ['/curl.js', script(CURL_SCRIPT)],
]);
