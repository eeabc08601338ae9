/**
 * A recorded request as a command that a POSIX shell runs as it is. Called by the inspector's exports. The text is bytes, one per character
 * (latin1): fields and bodies reach the service as they came in. It is UTF-8, and nothing in it is obeyed by a terminal that shows it: what a
 * visitor sent beyond that is written as escapes, which the shell turns back.
 */
import { AppError } from '../../../base/errors.ts';
import { type ShownField, valueOf } from '../../core/rules/recorded-head.ts';
import type { ShownRequest } from '../views.ts';
import { urlOf } from '../recorded-url.ts';

/** A body that people can read stands in the command line, up to here: the system bounds an argument (128 KB), and reading does too. */
const MAX_INLINE_BYTES = 32 * 1024;
/** What the edge says to the service and says anew, what frames a message, and what belongs to one connection. */
const LEFT_OUT =
  /^(host|content-length|transfer-encoding|connection|keep-alive|te|trailer|upgrade|expect|proxy-.*|x-forwarded-(for|proto|host)|x-real-ip|culvert-.*)$/i;
/** Controls and the marks that reorder or hide text: a user who pastes the command can't see them. As the bytes of UTF-8. */
const UNREADABLE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/u;

/** One command. Throws `body_truncated`: with a part of the body it would send another request. */
export function curlCommand(shown: ShownRequest): string {
  const { record, request } = shown;
  if (!isWhole(shown))
    throw new AppError(
      'body_truncated',
      'Only part of the body was recorded, so the command would send a different request. Raise inspector.max_body_bytes for new requests.',
    );
  const fields = request.fields.filter(({ name }) => !LEFT_OUT.test(name));
  const body = Buffer.from(record.requestBody);
  const hasBody = record.method !== 'HEAD' && (body.length > 0 || saysLength(request.fields));
  const isInline = body.length <= MAX_INLINE_BYTES && isReadable(body);
  const options = [
    ...methodOf(record.method, hasBody),
    quoted(urlOf(shown)),
    '--path-as-is --globoff',
    ...(record.trace.httpVersion === '1.0' ? ['--http1.0'] : []),
    ...fields.map(fieldOption),
    // What curl would say by itself and the visitor did not.
    ...unsaid(fields, hasBody).map((name) => `-H ${quoted(`${name}:`)}`),
    ...(valueOf(fields, 'accept-encoding') === undefined ? [] : ['--compressed']),
    ...(hasBody ? [isInline ? `--data-raw ${quoted(body.toString('latin1'))}` : '--data-binary @-'] : []),
  ];
  const command = `curl ${options.join(' \\\n  ')}\n`;
  return hasBody && !isInline ? `printf '${printfText(body)}' | ${command}` : command;
}

/** Not so either of a visitor that left in the middle of it, and of an answer that came before its end. */
function isWhole({ record, request }: ShownRequest): boolean {
  const length = valueOf(request.fields, 'content-length');
  return !record.requestBodyTruncated && (length === undefined || Number(length) === record.requestBody.length);
}

function methodOf(method: string, hasBody: boolean): string[] {
  if (method === 'HEAD') return ['--head'];
  return method === (hasBody ? 'POST' : 'GET') ? [] : [`-X ${quoted(method)}`];
}

/** A request without a body says no length; one with an empty body says 0. */
function saysLength(fields: readonly ShownField[]): boolean {
  return ['content-length', 'transfer-encoding'].some((name) => valueOf(fields, name) !== undefined);
}

/** `name;` is curl's form of a field without a value; `name:` takes one away. */
function fieldOption({ name, value }: ShownField): string {
  return `-H ${quoted(value === '' ? `${name};` : `${name}: ${value}`)}`;
}

function unsaid(fields: readonly ShownField[], hasBody: boolean): string[] {
  const own = ['User-Agent', 'Accept', ...(hasBody ? ['Content-Type', 'Expect'] : [])];
  return own.filter((name) => valueOf(fields, name.toLowerCase()) === undefined);
}

/** In single quotes a shell reads nothing but their end. What people can't read is made by `printf`: a shell takes line ends off it, and there are none. */
function quoted(text: string): string {
  const bytes = Buffer.from(text, 'latin1');
  return isReadable(bytes) ? `'${text.replaceAll("'", `'\\''`)}'` : `"$(printf '${printfText(bytes)}')"`;
}

function isReadable(body: Buffer): boolean {
  const text = body.toString('utf8');
  // A carriage return reaches a shell from a file, but not from a clipboard.
  return !UNREADABLE.test(text) && Buffer.from(text, 'utf8').equals(body);
}

/** What `printf` turns into these bytes: octal escapes are the only ones that every shell knows. */
function printfText(body: Buffer): string {
  let text = '';
  for (const [i, byte] of body.entries()) {
    // Not `!` either: within double quotes an interactive shell looks for it, whatever stands around it.
    const isPlain = (byte === 0x20 || byte >= 0x22) && byte < 0x7f && byte !== 0x25 && byte !== 0x27 && byte !== 0x5c;
    // A dash in front would be an option of printf's.
    text +=
      isPlain && !(i === 0 && byte === 0x2d) ? String.fromCharCode(byte) : `\\${byte.toString(8).padStart(3, '0')}`;
  }
  return text;
}
