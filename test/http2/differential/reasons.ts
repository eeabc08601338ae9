/** Why the engine under test may differ from node:http2: each kind of difference by name. */
import type { Engine } from '../engines.ts';
import type { Field } from '../hpack.ts';
import type { Reason } from './compare.ts';
import { isMisjudged } from './exchange.ts';

const EARLY = '"end":"reset 0"';
const WHOLE = '"end":"whole"';

/** nghttp2 leaves out END_STREAM where an answer is whole before its request: it sends RST_STREAM with NO_ERROR (RFC 9113 §8.1). */
const earlyAnswer: Reason = {
  name: 'early answer of node:http2',
  kinds: ['answer'],
  because: 'END_STREAM comes before RST_STREAM, so that a body without a length is known to be whole',
  applies: (_exchange, { oracle, own }) => oracle.replace(EARLY, WHOLE) === own,
};

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/;
/** Nothing but blanks inside, and no other controls than tabs. */
const VALUE = /^(?:[\x21-\x7e\x80-\xff](?:[\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?)?$/;

function isInvalid([name, value]: Field): boolean {
  return !VALUE.test(value) || (!name.startsWith(':') && !TOKEN.test(name));
}

const invalidField: Reason = {
  name: 'invalid field',
  kinds: ['stricter'],
  because: 'node:http2 leaves such a field out and passes the rest on; the request is malformed (RFC 9113 §8.2.1)',
  applies: ({ head }, { own }) => head.some(isInvalid) && !own.includes('"seen"'),
};

/** Names that no trailer has: they frame, route or authenticate. */
const NEVER_BEHIND =
  /^(?::.*|connection|keep-alive|proxy-connection|upgrade|transfer-encoding|http2-settings|te|host|content-length|authorization|expect|range|cache-control|if-none-match|content-type|trailer|cookie|x-forwarded-.*|forwarded)$/;

const MOST_TRAILERS = 16_000;

function isTooLong(fields: readonly Field[]): boolean {
  return fields.reduce((sum, [name, value]) => sum + name.length + value.length, 0) > MOST_TRAILERS;
}

function isRefusedTrailer(field: Field): boolean {
  return isInvalid(field) || NEVER_BEHIND.test(field[0]);
}

const invalidTrailer: Reason = {
  name: 'invalid or too long trailers',
  kinds: ['request', 'answer'],
  because: 'node:http2 leaves all trailers out; trailers that are malformed end the request',
  applies: ({ trailers }, { own }) =>
    (isTooLong(trailers ?? []) || (trailers ?? []).some(isRefusedTrailer)) &&
    /^cut$|"end":"(?:reset|goaway) /.test(own),
};

const RESET = '"end":"reset 1"}';

const refusedTrailers: Reason = {
  name: 'answer before refused trailers',
  kinds: ['answer'],
  because:
    'a body of a known length is whole without its trailers: the answer may come before the reset, on either side',
  applies: ({ trailers, isUnended }, { oracle, own }) => {
    const [reset, answered] = oracle.endsWith(RESET) ? [oracle, own] : [own, oracle];
    return (
      (isUnended || (trailers ?? []).some(isRefusedTrailer)) &&
      reset.endsWith(RESET) &&
      (answered.includes(WHOLE) || answered.includes(EARLY))
    );
  },
};

/** A body of a known length is whole before its trailers are refused: then the answer alone tells. */
const hostBehind: Reason = {
  name: 'host in a trailer',
  kinds: ['request', 'answer'],
  because:
    'nghttp2 refuses one that names no host; no trailer of that name is passed on, so what it holds means nothing',
  applies: ({ trailers }, { oracle, own }) =>
    (oracle === 'cut' || oracle.endsWith('"end":"reset 1"}')) &&
    (trailers ?? []).some(([name]) => name === 'host') &&
    !own.includes('host: '),
};

const passedTrailers: Reason = {
  name: 'trailers of requests',
  kinds: ['request'],
  because: 'node:http2 leaves them out; those that the visitor sent come to the service',
  applies: ({ trailers }, { oracle, own }) =>
    own.startsWith(oracle) &&
    own
      .slice(oracle.length)
      .split('\n')
      .every((line) =>
        (trailers ?? []).some(([name, value]) => line === `${name}: ${value}` && !NEVER_BEHIND.test(name)),
      ),
};

const emptyCrumb: Reason = {
  name: 'empty crumb of a cookie',
  kinds: ['head'],
  because: 'it is left out, instead of making an empty pair between two semicolons',
  applies: ({ head }, { oracle, own }) => {
    const crumbs = head.filter(([name, value]) => name === 'cookie' && value !== '').map(([, value]) => value);
    const line = crumbs.length === 0 ? '' : `\ncookie: ${crumbs.join('; ')}`;
    return oracle.replace(/\ncookie: .*/, line) === own;
  },
};

const wrongLength: Reason = {
  name: 'body of another length',
  kinds: ['answer', 'milder'],
  because: 'node:http2 ends the connection with INTERNAL_ERROR; a reset of the stream is enough (RFC 9113 §8.1.1)',
  applies: (exchange, { oracle, own }) =>
    isMisjudged(exchange) &&
    // Its connection may be cut before the GOAWAY is read.
    (oracle.includes('"goaway 2"') || oracle.endsWith('"end":"cut"}') || oracle === '2') &&
    (own.includes('"reset 1"') || own === '1'),
};

/** Rare: the generator must choose CONNECT and `:protocol` for one request. */
const extendedConnect: Reason = {
  name: 'WebSocket by extended CONNECT',
  kinds: ['looser'],
  because: 'the edge offers it (RFC 8441), and does not with node:http2 (h2-node/session-options.ts)',
  applies: ({ head }, { oracle }) =>
    oracle.endsWith(RESET) &&
    [
      [':method', 'CONNECT'],
      [':protocol', 'websocket'],
    ].every(([name, value]) => head.some((field) => field[0] === name && field[1] === value)),
};

/** Fields that a request may have, `host` among them, which `:authority` stands for. */
const MOST_FIELDS = 100;

function fieldsOf(head: readonly Field[]): number {
  const names = new Set(head.map(([name]) => name));
  const fields = head.filter(([name]) => !name.startsWith(':')).length;
  return names.has(':authority') && !names.has('host') ? fields + 1 : fields;
}

const teCounts: Reason = {
  name: 'te is the last of a hundred fields',
  kinds: ['stricter'],
  because: 'it is counted as it came, like with HTTP/1.1; towards node:http2 it is left out before',
  applies: ({ head }, { own }) =>
    own.includes('[":status","431"]') && head.some(([name]) => name === 'te') && fieldsOf(head) === MOST_FIELDS,
};

export const REASONS: Readonly<Record<Engine, readonly Reason[]>> = {
  node: [
    // Which of two has it is chance.
    {
      ...earlyAnswer,
      applies: (_exchange, { oracle, own }) => oracle.replace(EARLY, WHOLE) === own.replace(EARLY, WHOLE),
    },
    refusedTrailers,
  ],
  own: [
    earlyAnswer,
    invalidField,
    invalidTrailer,
    refusedTrailers,
    hostBehind,
    passedTrailers,
    emptyCrumb,
    wrongLength,
    extendedConnect,
    teCounts,
  ],
};
