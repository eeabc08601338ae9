/**
 * `curl.js`: a request as a command for a POSIX shell. It will be pasted into a terminal, and what is in it comes from strangers: everything
 * is quoted, and bytes that a terminal would take for something else are written in octal.
 */
export const CURL_SCRIPT = String.raw`/** Written by the edge or by curl itself. */
const LEFT_OUT = /^(host|content-length|transfer-encoding|connection|keep-alive|expect|x-forwarded-.*|x-real-ip|culvert-.*)$/i;

/** The command; it asks the public URL, or the service where none is known. */
export function curlCommand(request, base) {
  const body = Uint8Array.fromBase64(request.request_raw_body);
  const target = request.path.startsWith('/') ? request.path : '/';
  const words = ['curl', '-sS', '-i', '--globoff', '--path-as-is'];
  if (request.method === 'HEAD') words.push('--head');
  else if (request.method !== (body.length > 0 ? 'POST' : 'GET')) words.push('-X', quoted(request.method));
  const left = [];
  for (const [name, value] of request.request_headers) {
    if (LEFT_OUT.test(name)) continue;
    // Of a header, what no terminal shows as it is can't be typed either.
    if (!/^[\t\x20-\x7e]*$/.test(value)) left.push(name);
    else words.push('-H', quoted(value === '' ? name + ';' : name + ': ' + value));
  }
  let before = '';
  if (body.length > 0) {
    if (!request.request_headers.some(([name]) => name.toLowerCase() === 'content-type')) words.push('-H', quoted('Content-Type:'));
    const plain = plainText(body);
    if (plain === undefined) {
      before = 'printf ' + quoted([...body].map(octal).join('')) + ' | ';
      words.push('--data-binary', '@-');
    } else words.push('--data-raw', quoted(plain));
  }
  words.push(quoted(base.replace(/\/$/, '') + printable(target)));
  const command = before + words.join(' ');
  return { command, left };
}

export function quoted(text) {
  return "'" + text.replaceAll("'", "'\\''") + "'";
}

/** Text of lines; undefined: it holds other bytes, and is written as such. */
function plainText(bytes) {
  for (const byte of bytes) if ((byte < 32 && byte !== 10) || byte > 126) return undefined;
  return String.fromCharCode(...bytes.subarray(0, 65536));
}

const octal = (byte) => '\\' + byte.toString(8).padStart(3, '0');

const printable = (target) => target.replace(/[^\x21-\x7e]/g, (sign) => encodeURIComponent(sign));
`;
