/**
 * The objects of RFC 8555 §7.1 as far as they are used, read from untrusted JSON: what is missing or of the wrong type
 * is a `bad_answer`. Addresses are checked where they are asked (transport.ts).
 */
import { AcmeError } from './contract.ts';
import { isRecord, oneLine, parseJson, type Problem, readProblem } from './problem.ts';
import type { Reply } from './transport.ts';

export interface Directory {
  readonly newNonce: string;
  readonly newAccount: string;
  readonly newOrder: string;
  /** Null: the authority suggests no times of renewal. */
  readonly renewalInfo: string | null;
  readonly needsExternalAccount: boolean;
}

export interface Order {
  readonly status: string;
  readonly authorizations: readonly string[];
  readonly finalize: string;
  readonly certificate: string | undefined;
  readonly problem: Problem | undefined;
}

export interface Challenge {
  readonly type: string;
  readonly url: string;
  readonly token: string;
  readonly problem: Problem | undefined;
}

export interface Authorization {
  readonly status: string;
  /** Without `*.`. */
  readonly name: string;
  readonly challenges: readonly Challenge[];
}

/** An order of Let's Encrypt has at most 100 names. */
const MAX_LIST = 100;
/** RFC 8555 §8.1: base64url, at least 128 bits. It becomes a part of a path and of a line, so nothing else is accepted. */
const TOKEN = /^[A-Za-z0-9_-]{16,256}$/;

export function readDirectory(reply: Reply): Directory {
  const directory = readObject(reply, 'directory');
  const meta = isRecord(directory['meta']) ? directory['meta'] : {};
  const { renewalInfo } = directory;
  return {
    newNonce: text(directory, 'newNonce', 'directory'),
    newAccount: text(directory, 'newAccount', 'directory'),
    newOrder: text(directory, 'newOrder', 'directory'),
    renewalInfo: typeof renewalInfo === 'string' ? renewalInfo : null,
    needsExternalAccount: meta['externalAccountRequired'] === true,
  };
}

export function readOrder(reply: Reply): Order {
  const order = readObject(reply, 'order');
  const { certificate } = order;
  return {
    status: text(order, 'status', 'order'),
    authorizations: list(order, 'authorizations', 'order').map((url) => String(url)),
    finalize: text(order, 'finalize', 'order'),
    certificate: typeof certificate === 'string' ? certificate : undefined,
    problem: readProblem(order['error']),
  };
}

export function readAuthorization(reply: Reply): Authorization {
  const authorization = readObject(reply, 'authorization');
  const { identifier } = authorization;
  if (!isRecord(identifier)) throw missing('authorization', 'identifier');
  return {
    status: text(authorization, 'status', 'authorization'),
    name: text(identifier, 'value', 'authorization').toLowerCase(),
    challenges: list(authorization, 'challenges', 'authorization').filter(isRecord).map(readChallenge),
  };
}

function readChallenge(value: Readonly<Record<string, unknown>>): Challenge {
  const { token } = value;
  return {
    type: text(value, 'type', 'challenge'),
    url: text(value, 'url', 'challenge'),
    // Challenges of other kinds may have none: it is asked for when one is taken.
    token: typeof token === 'string' && TOKEN.test(token) ? token : '',
    problem: readProblem(value['error']),
  };
}

/** The body of an answer that must be a JSON object. */
export function readObject(reply: Reply, what: string): Readonly<Record<string, unknown>> {
  const type = reply.headers['content-type'] ?? 'none';
  if (!/^application\/json\s*(;|$)/i.test(type)) {
    throw new AcmeError(
      'bad_answer',
      `${oneLine(reply.url, 120)} is not an ACME ${what}: its content type is ${oneLine(type, 60)}`,
    );
  }
  const value = parseJson(reply.body);
  if (!isRecord(value))
    throw new AcmeError('bad_answer', `${oneLine(reply.url, 120)} is not an ACME ${what}: it is not a JSON object`);
  return value;
}

function text(object: Readonly<Record<string, unknown>>, key: string, what: string): string {
  const value = object[key];
  if (typeof value !== 'string') throw missing(what, key);
  return value;
}

function list(object: Readonly<Record<string, unknown>>, key: string, what: string): readonly unknown[] {
  const value = object[key];
  if (!Array.isArray(value)) throw missing(what, key);
  if (value.length > MAX_LIST)
    throw new AcmeError('bad_answer', `the authority's ${what} has more than ${MAX_LIST} ${key}`);
  return value;
}

function missing(what: string, key: string): AcmeError {
  return new AcmeError('bad_answer', `the authority's ${what} has no ${key}`);
}
