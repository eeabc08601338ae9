/**
 * A recorded request as code that sends it again: fetch, Python (requests), HTTPie. Whatever the visitor sent stays data: nothing in it ends a text, runs
 * in a shell or names a file. curl comes from the server. Pure: tested without a browser.
 */
import { bytesOf, textOf } from '../body/bytes.ts';
import type { Detail } from '../messages.ts';
import { shellText } from './shell-text.ts';
import { base64Literal, byteLiteral, jsText, pythonText } from './literals.ts';

export type Form = 'fetch' | 'python' | 'httpie';

export type Code = { readonly text: string } | { readonly problem: string };

interface CopyOptions {
  /** Credentials and cookies as they were. */
  readonly secrets: boolean;
}

interface Field {
  readonly name: string;
  readonly value: string;
}

interface Sent {
  readonly method: string;
  readonly url: string;
  readonly fields: readonly Field[];
  readonly body: Uint8Array<ArrayBuffer>;
  /** The body, when it is text. */
  readonly text: string | undefined;
}

/** As the server has it for curl: what the edge says, what frames a message, what belongs to one connection. And what these clients agree on by themselves. */
const LEFT_OUT =
  /^(host|content-length|transfer-encoding|connection|keep-alive|te|trailer|upgrade|expect|proxy-.*|x-forwarded-(for|proto|host)|x-real-ip|culvert-.*|accept-encoding)$/i;
const SECRETS = /^(authorization|cookie|set-cookie)$/i;
const MASK = '***';
const TRUNCATED =
  'Only part of the body was recorded, so the code would send a different request. Raise inspector.max_body_bytes for new requests.';

export function codeFor(form: Form, detail: Detail, { secrets }: CopyOptions): Code {
  if (!isWhole(detail)) return { problem: TRUNCATED };
  const body = detail.method === 'HEAD' ? new Uint8Array() : bytesOf(detail.request_body);
  const sent: Sent = {
    method: detail.method,
    url: urlOf(detail),
    fields: detail.request_header_list
      .filter(({ name }) => !LEFT_OUT.test(name))
      .map((field) => (!secrets && SECRETS.test(field.name) ? { ...field, value: MASK } : field)),
    body,
    text: textOf(body),
  };
  if (form === 'fetch') return fetchCode(sent);
  return form === 'python' ? pythonCode(sent) : httpieCode(sent);
}

/** Not of a visitor either that left in the middle of it. */
function isWhole(detail: Detail): boolean {
  const length = firstValue(detail, 'content-length');
  return (
    !detail.request_body_truncated && (length === undefined || Number(length) === bytesOf(detail.request_body).length)
  );
}

function firstValue({ request_header_list: fields }: Detail, wanted: string): string | undefined {
  return fields.find(({ name }) => name.toLowerCase() === wanted)?.value;
}

/** With the Host that the visitor named. Bytes that no URL has are written as escapes: a client would write other ones. */
function urlOf(detail: Detail): string {
  const { scheme } = detail.trace;
  const [, rest] = /^[a-z][a-z\d+.-]*:\/\/[^/?#]*(.*)$/is.exec(detail.path) ?? [];
  const path = rest ?? detail.path;
  const target = path.startsWith('/') ? path : `/${path}`;
  return `${scheme}://${firstValue(detail, 'host') ?? detail.host}${target.replaceAll(/[^\x21-\x7e]|["#<>\\^`{|}]/g, escaped)}`;
}

function escaped(sign: string): string {
  return `%${sign.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
}

function fetchCode({ method, url, fields, body, text }: Sent): Code {
  if (/^(connect|trace|track)$/i.test(method)) return { problem: `fetch can't send ${method} requests.` };
  if (body.length > 0 && /^(get|head)$/i.test(method))
    return { problem: `fetch can't send a ${method.toUpperCase()} request with a body.` };
  const names = new Set(fields.map(({ name }) => name.toLowerCase()));
  // In an object, repeated names would be lost, and `__proto__` would be none.
  const isPlain = names.size === fields.length && !names.has('__proto__');
  const rows = fields.map(({ name, value }) =>
    isPlain
      ? `    ${jsText(name, { ascii: true })}: ${jsText(value, { ascii: true })},\n`
      : `    [${jsText(name, { ascii: true })}, ${jsText(value, { ascii: true })}],\n`,
  );
  const [open, close] = isPlain ? ['{', '}'] : ['[', ']'];
  const options = [
    ...(method === 'GET' ? [] : [`  method: ${jsText(method)},\n`]),
    ...(fields.length === 0 ? [] : [`  headers: ${open}\n${rows.join('')}  ${close},\n`]),
    ...(body.length === 0 ? [] : [`  body: ${fetchBody(body, text, names.has('content-type'))},\n`]),
    '  redirect: "manual",\n',
  ];
  return {
    text: `const response = await fetch(${jsText(url)}, {\n${options.join('')}});\nconsole.log(response.status, await response.text());\n`,
  };
}

/** A text would bring a content type of its own. */
function fetchBody(body: Uint8Array, text: string | undefined, hasType: boolean): string {
  if (text === undefined || !isExact(text, body)) return base64Literal(body);
  return hasType ? jsText(text) : `new TextEncoder().encode(${jsText(text)})`;
}

function pythonCode({ method, url, fields, body, text }: Sent): Code {
  const joined = new Map<string, Field>();
  for (const { name, value } of fields) {
    const before = joined.get(name.toLowerCase());
    const joint = name.toLowerCase() === 'cookie' ? '; ' : ', ';
    joined.set(
      name.toLowerCase(),
      before === undefined ? { name, value } : { ...before, value: before.value + joint + value },
    );
  }
  const rows = [...joined.values()].map(
    ({ name, value }) => `        ${pythonText(name, { ascii: true })}: ${pythonText(value, { ascii: true })},\n`,
  );
  const data = text !== undefined && isExact(text, body) ? `${pythonText(text)}.encode()` : byteLiteral(body);
  const options = [
    `    ${pythonText(method)},\n    ${pythonText(url)},\n`,
    ...(rows.length === 0 ? [] : [`    headers={\n${rows.join('')}    },\n`]),
    ...(body.length === 0 ? [] : [`    data=${data},\n`]),
    '    allow_redirects=False,\n',
  ];
  return {
    text: `import requests\n\nresponse = requests.request(\n${options.join('')})\nprint(response.status_code, response.text)\n`,
  };
}

/** The text may have lost the half of a character at its end. */
function isExact(text: string, body: Uint8Array): boolean {
  return new TextEncoder().encode(text).length === body.length;
}

/** A body in the command line, up to here: the system bounds an argument. */
const MAX_INLINE_BYTES = 32 * 1024;

/** `--`: what begins with a dash is no option. `--raw=`: so is no body. */
function httpieCode({ method, url, fields, body, text }: Sent): Code {
  if (!/^[A-Za-z]+$/.test(method)) return { problem: `HTTPie can't send ${method} requests.` };
  const items: string[] = [];
  for (const field of fields) {
    const item = httpieItem(field);
    if (item === undefined) return { problem: `HTTPie can't send the header ${field.name} as it is.` };
    items.push(item);
  }
  if (body.length > 0 && !fields.some(({ name }) => name.toLowerCase() === 'content-type'))
    items.push("'Content-Type:'");
  const quoted = text === undefined || body.length > MAX_INLINE_BYTES ? undefined : shellText(body);
  const isPiped = body.length > 0 && (quoted === undefined || quoted.isEscaped);
  const options = [
    '--path-as-is',
    ...(isPiped ? [] : ['--ignore-stdin']),
    ...(body.length > 0 && !isPiped ? [`--raw=${quoted?.text}`] : []),
    `-- ${method} ${shellText(latin1(url)).text}`,
    ...items,
  ];
  const command = `http ${options.join(' \\\n  ')}\n`;
  return { text: isPiped ? `${shellText(body).printf} | ${command}` : command };
}

/**
 * `Name:value`, as HTTPie reads it: `=` and `@` behind the colon would make it JSON, or a file to read; a backslash takes their meaning, but not its own.
 * Undefined: it can't be said.
 */
function httpieItem({ name, value }: Field): string | undefined {
  if (value === '') return shellText(latin1(`${name};`)).text;
  if (/\\[:;=@]/.test(value)) return undefined;
  const bytes = latin1(`${name}:${value.replace(/^[=@]/, '\\$&')}`);
  // Its command line takes UTF-8 alone.
  return isUtf8(bytes) ? shellText(bytes).text : undefined;
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

/** Fields come as bytes, one per character. */
function latin1(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(text, (sign) => sign.charCodeAt(0) & 0xff);
}
