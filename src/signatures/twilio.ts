/** Twilio signs the URL, and with it the fields of a form or the hash of another body: https://www.twilio.com/docs/usage/security */
import { createHash } from 'node:crypto';
import { compare, delivered, hmac, type Incoming, type Reply, type Scheme, word } from './scheme.ts';

/** Fields of a form. Twilio sends some dozens; a megabyte of them would take long to sort, before the signature is known to be right. */
const MAX_FIELDS = 1_000;
/** Anything but TwiML as a body is an error in Twilio's log. */
const ACCEPTED: Reply = { status: 204, body: null };

export const twilio: Scheme = {
  faultOf: (incoming, secret) => {
    const shown = incoming.headers['x-twilio-signature'];
    if (shown === undefined || shown === '') return 'signature_missing';
    const fields = signedFields(incoming);
    if (fields === undefined) return 'signature_wrong';
    const signatures = urlsOf(incoming.url).map((url) =>
      hmac(secret, [url, fields], { hash: 'sha1', encoding: 'base64' }),
    );
    return signatures.map((wanted) => compare(shown, wanted)).includes(null) ? null : 'signature_wrong';
  },
  describe: ({ headers, body }) => {
    const fields = isForm(headers) ? new URLSearchParams(body.toString('utf8')) : undefined;
    const event = fields?.get('EventType') ?? fields?.get('MessageStatus') ?? fields?.get('CallStatus');
    return delivered({
      eventType: word(event),
      deliveryId: word(headers['i-twilio-idempotency-token']),
      accepted: ACCEPTED,
    });
  },
};

/** What is signed behind the URL; undefined: the body is covered by no signature. */
function signedFields({ url, headers, body }: Incoming): string | undefined {
  const hash = new URLSearchParams(queryOf(url)).get('bodySHA256');
  if (hash !== null) {
    const own = createHash('sha256').update(body).digest('hex');
    return compare(hash, own) === null ? '' : undefined;
  }
  if (body.length === 0) return '';
  if (!isForm(headers)) return undefined;
  const text = body.toString('utf8');
  return countOf(text, '&') < MAX_FIELDS ? sorted(new URLSearchParams(text)) : undefined;
}

/** Names in their order, each before its values, without repeats and in their order. */
function sorted(fields: URLSearchParams): string {
  const names = [...new Set(fields.keys())].sort();
  return names.flatMap((name) => [...new Set(fields.getAll(name))].sort().map((value) => `${name}${value}`)).join('');
}

/** Twilio signs the port or leaves it out, by the kind of request: without and with one. */
function urlsOf(url: string): string[] {
  const [, scheme = '', host = '', port = '', rest = ''] = /^(https?:\/\/)([^/?#]*?)(:\d+)?([/?#].*)?$/.exec(url) ?? [];
  const usual = scheme === 'https://' ? ':443' : ':80';
  return [`${scheme}${host}${rest}`, `${scheme}${host}${port === '' ? usual : port}${rest}`];
}

function queryOf(url: string): string {
  const start = url.indexOf('?');
  return start === -1 ? '' : url.slice(start + 1);
}

function isForm(headers: Incoming['headers']): boolean {
  return /^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(headers['content-type'] ?? '');
}

function countOf(text: string, character: string): number {
  let count = 0;
  for (let at = text.indexOf(character); at !== -1; at = text.indexOf(character, at + 1)) count += 1;
  return count;
}
