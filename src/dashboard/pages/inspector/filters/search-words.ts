/**
 * The search field of the inspector: words such as `status:404` are filters, the rest is a part of the path. Pure: tested without a browser.
 */
import { type Filter, filterIn } from './filter.ts';

export interface SearchWord {
  /** As in `status:404`. */
  readonly example: string;
  readonly what: string;
}

/** What the help of the field lists. */
export const WORDS: readonly SearchWord[] = [
  { example: '/orders', what: 'text in path or query' },
  { example: 'status:404', what: 'a status, a class (5xx), or 0: no response' },
  { example: 'method:POST', what: 'a method' },
  { example: 'duration:>500ms', what: 'also <2s and 100ms-1s' },
  { example: 'ip:203.0.113.7', what: 'a visitor, or a network (203.0.113.0/24)' },
  { example: 'header:content-type:json', what: 'a header, or text in its value' },
  { example: 'body:"order 4711"', what: 'text in a request or response body' },
  { example: 'trace:4bf92f3577b34da6a3ce929d0e0e4736', what: 'a trace ID' },
  { example: 'decision:blocked', what: 'or forwarded, failed' },
  { example: 'since:1h', what: 'or 15m, 24h, 7d' },
];

export interface Searched {
  /** Of the words, and of the rest as `path`. */
  readonly filter: Filter;
  readonly hasWords: boolean;
  /** The first word that can't be understood, and why. */
  readonly problem: string | undefined;
}

const DECISIONS: Readonly<Record<string, string>> = { blocked: 'refused', forwarded: 'forwarded', failed: 'failed' };
/** Word → name of the filter, and the value that it has there. */
const NAMES: Readonly<Record<string, (value: string) => Readonly<Record<string, string>>>> = {
  status: (status) => ({ status }),
  method: (method) => ({ method }),
  path: (path) => ({ path }),
  ip: (address) => ({ address }),
  address: (address) => ({ address }),
  header: (header) => ({ header }),
  body: (body) => ({ body }),
  trace: (trace) => ({ trace: trace.toLowerCase() }),
  decision: (decision) => ({ outcome: Object.hasOwn(DECISIONS, decision) ? (DECISIONS[decision] ?? '') : decision }),
  since: (since) => ({ since }),
  duration: durationOf,
};
const TOKEN = /(?<![^\s])([a-z]+):("[^"]*"?|\S+)/gi;

/** `text`: what was typed. A word that names no filter is a part of the path. */
export function searched(text: string): Searched {
  const found: Record<string, string> = {};
  let problem: string | undefined;
  const rest = text.replaceAll(TOKEN, (token, name: string, quoted: string) => {
    const read = Object.hasOwn(NAMES, name.toLowerCase()) ? NAMES[name.toLowerCase()] : undefined;
    if (read === undefined) return token;
    const own = read(quoted.replaceAll(/^"|"$/g, ''));
    const good = filterIn(new URLSearchParams(own).toString()) as Readonly<Record<string, string>>;
    if (Object.keys(own).some((key) => good[key] === undefined)) problem ??= `Can't understand ${token}`;
    Object.assign(found, good);
    return ' ';
  });
  const hasWords = rest !== text;
  const path = rest.replaceAll(/\s+/g, ' ').trim();
  return { filter: { ...(path === '' ? {} : { path }), ...found }, hasWords, problem };
}

const MS: Readonly<Record<string, number>> = { '': 1, ms: 1, s: 1000, m: 60_000 };

/** `>500ms`, `<2s`, `100ms-1s`; milliseconds where no unit is named. */
function durationOf(value: string): Record<string, string> {
  const [, sign, one, unit = ''] = /^([<>])=?(\d+(?:\.\d+)?)(ms|s|m)?$/.exec(value) ?? [];
  if (sign !== undefined && one !== undefined) {
    const ms = milliseconds(one, unit);
    return sign === '>' ? { minMs: ms } : { maxMs: ms };
  }
  const [, from, fromUnit = '', to, toUnit = ''] =
    /^(\d+(?:\.\d+)?)(ms|s|m)?-(\d+(?:\.\d+)?)(ms|s|m)?$/.exec(value) ?? [];
  // No number: refused like any other value that is none.
  if (from === undefined || to === undefined) return { minMs: '' };
  return { minMs: milliseconds(from, fromUnit), maxMs: milliseconds(to, toUnit) };
}

/** Whole ones: the server takes no others. */
function milliseconds(count: string, unit: string): string {
  return String(Math.round(Number(count) * (MS[unit] ?? 1)));
}
