/** `culvert api`: one request to the REST API as the user who is logged in, for what no command does. */
import { apiCommand, type Asked, refusal } from '../client/api-command.ts';
import { type ApiAnswer, urlAt } from '../client/api-call.ts';
import { usageError } from '../terminal/exit.ts';
import { textFlag } from '../terminal/flags.ts';
import { readInput } from '../terminal/input.ts';
import { print } from '../terminal/io.ts';
import { escapedMarks, harmless, harmlessLines, jsonText } from '../terminal/paint.ts';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
/** Pages of one list. */
const MAX_PAGES = 1_000;

export const api = apiCommand(async (asked) => {
  const { flags, io, server } = asked;
  const body = await bodyOf(asked);
  const { method, path } = targetOf(asked, body !== undefined);
  requireBelow(server, path);
  const isPaged = flags['paginate'] === true;
  if (isPaged && method !== 'GET') throw usageError(`--paginate: is for GET, not ${method}`);
  const answer = await asked.answerTo(method, path, body);
  if (flags['include'] === true) await print(io.stdout, headText(answer));
  const isRefused = answer.status >= 400;
  const text = isPaged && !isRefused ? jsonOf(asked, await allPages(asked, path, answer)) : textOf(asked, answer);
  if (text !== '') await print(io.stdout, text);
  if (isRefused) throw refusal(server, answer, false);
});

interface Target {
  readonly method: string;
  readonly path: string;
}

/** `/tunnels` alone is a GET, or a POST with a body. @throws ExitError (usage) */
function targetOf({ args }: Asked, hasBody: boolean): Target {
  const [first = '', second] = args;
  const isAlone = second === undefined;
  const method = isAlone ? (hasBody ? 'POST' : 'GET') : first.toUpperCase();
  const known: readonly string[] = METHODS;
  if (isAlone && known.includes(first.toUpperCase())) throw usageError(`${first}: needs a path, such as /tunnels`);
  if (!known.includes(method)) throw usageError(noMethod(first));
  const path = second ?? first;
  return { method, path: path.startsWith('/') ? path : `/${path}` };
}

/** `culvert api tunnels list`: ngrok's api command has a word for each kind of thing. */
function noMethod(word: string): string {
  const text = `"${word}" is no method. Use one of ${METHODS.join(', ')}`;
  const bare = word.replace(/^\/+/, '');
  if (!/^[a-z][a-z-]*$/.test(bare)) return text;
  const own = bare === 'tunnels' || bare === 'endpoints' ? '`culvert tunnels` or ' : '';
  return `${text}, as in ${own}\`culvert api GET /${bare === 'endpoints' ? 'tunnels' : bare}\``;
}

/** The access token goes to the server of the login and to no other. @throws ExitError (usage) */
function requireBelow(server: URL, path: string): void {
  const url = urlAt(server, path);
  const base = server.pathname.replace(/\/+$/, '');
  if (url.origin === server.origin && url.pathname.startsWith(`${base}/`)) return;
  throw usageError(`${path}: is not a path of the API at ${server.host}`);
}

/** @throws ExitError (usage) for what is no JSON object or list. */
async function bodyOf({ flags, io }: Asked): Promise<object | undefined> {
  const data = textFlag(flags, 'data');
  if (data === undefined) return undefined;
  const text = data.startsWith('@') ? await readInput(io, data.slice(1)) : data;
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body === 'object' && body !== null) return body;
  } catch (cause) {
    throw usageError(`--data: is not valid JSON. Write {"key": "value"}, or @FILE, or @- for standard input`, cause);
  }
  throw usageError('--data: must be a JSON object or list');
}

/** The lists of all pages as one. A response that is no list stands for itself. */
async function allPages(asked: Asked, path: string, first: ApiAnswer): Promise<unknown> {
  const [bare = ''] = path.split('?', 1);
  const pages = [listOf(first)];
  let { next } = first;
  for (let page = 1; next !== undefined && page < MAX_PAGES; page += 1) {
    const answer = await asked.page(`${bare}${next}`);
    pages.push(listOf(answer));
    next = answer.next;
  }
  return pages.includes(undefined) ? first.body : pages.flatMap((page) => page ?? []);
}

function listOf({ body }: Pick<ApiAnswer, 'body'>): readonly unknown[] | undefined {
  return Array.isArray(body) ? body : undefined;
}

/** As `gh api --include` and curl -i write it. */
function headText({ status, headers }: ApiAnswer): string {
  return [`HTTP ${status}`, ...headers.map(([name, value]) => harmless(`${name}: ${value}`)), ''].join('\n');
}

function textOf(asked: Asked, { body, bytes }: ApiAnswer): string {
  if (body !== undefined) return jsonOf(asked, body);
  const text = Buffer.from(bytes, 'latin1').toString('utf8').replace(/\n$/, '');
  return asked.io.stdout.isTTY === true ? harmlessLines(text) : text;
}

/** On a terminal with a line per value, else on one line. */
function jsonOf({ io }: Asked, value: unknown): string {
  return io.stdout.isTTY === true ? escapedMarks(JSON.stringify(value, null, 2)) : jsonText(value);
}
