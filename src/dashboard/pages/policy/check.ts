/**
 * Faults of a policy, shown at their field: those that the browser finds before it sends anything, and those that the server reports.
 * Pure: tested without a browser.
 */
import { type Action, entryOf, MAX_ACTIONS, type Policy } from './kinds.ts';

/** Messages by place of the action and name of its field. */
export type Faults = ReadonlyMap<string, string>;

const MAX_RATE = 1_000_000;
const MAX_ENTRIES = 100;
const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/;
const HEADER_VALUE = /^[\t\x20-\x7e]*$/;
/** Fields that frame or route a message, and those that the edge itself says. */
const RESERVED =
  /^(host|connection|content-length|transfer-encoding|te|trailer|upgrade|keep-alive|expect|http2-settings|proxy-.*|forwarded|x-forwarded-.*|x-real-ip|culvert-.*)$/;

export function placeOf(index: number, field: string): string {
  return `${index}.${field}`;
}

/** Empty: nothing is wrong as far as this page can tell. */
export function faultsIn({ actions }: Policy): Faults {
  const found = new Map<string, string>();
  for (const [index, action] of actions.entries()) {
    for (const [field, message] of faultsOf(action))
      if (message !== undefined) found.set(placeOf(index, field), message);
  }
  for (const kind of ['jwt_validation', 'rate_limit'] as const) {
    const [, second] = actions.flatMap((action, index) => (action.kind === kind ? [index] : []));
    if (second !== undefined) found.set(placeOf(second, 'kind'), `A policy can have only one ${kind}.`);
  }
  if (actions.length > MAX_ACTIONS)
    found.set(placeOf(MAX_ACTIONS, 'kind'), `A policy can have at most ${MAX_ACTIONS} actions.`);
  return found;
}

function faultsOf(action: Action): ReadonlyArray<readonly [field: string, message: string | undefined]> {
  if (entryOf(action.kind) === undefined) return [['kind', 'Unknown kind of action.']];
  switch (action.kind) {
    case 'deny':
      return [['path_prefix', pathFault(action.path_prefix)]];
    case 'ip_allow':
    case 'ip_deny':
      return [['networks', networksFault(action.networks)]];
    case 'rate_limit':
      return [['requests_per_minute', rateFault(action.requests_per_minute)]];
    case 'jwt_validation':
      return [['jwks_url', addressFault(action.jwks_url)]];
    default:
      return [
        ['name', nameFault(action)],
        ['value', HEADER_VALUE.test(action.value) ? undefined : 'Use visible ASCII characters only.'],
      ];
  }
}

function pathFault(prefix: string): string | undefined {
  if (prefix === '') return 'Enter a path, such as /admin';
  return prefix.startsWith('/') ? undefined : 'Must begin with a /';
}

function networksFault(networks: readonly string[]): string | undefined {
  if (networks.length === 0) return 'Enter an address or network, such as 203.0.113.7 or 10.0.0.0/8';
  if (networks.length > MAX_ENTRIES) return `At most ${MAX_ENTRIES} entries.`;
  const wrong = networks.find((entry) => !isNetwork(entry));
  return wrong === undefined ? undefined : `${wrong} is not an address or network, such as 203.0.113.7 or 10.0.0.0/8`;
}

function rateFault(rate: unknown): string | undefined {
  const isFine = typeof rate === 'number' && Number.isInteger(rate) && rate >= 1 && rate <= MAX_RATE;
  return isFine ? undefined : 'Enter a whole number from 1 to 1,000,000';
}

function addressFault(url: string | null): string | undefined {
  if (url === null) return undefined;
  const { protocol } = URL.parse(url) ?? {};
  // Plain http is for keys on the server's own machine: the server knows whether it is.
  return protocol === 'https:' || protocol === 'http:' ? undefined : 'Enter a URL that begins with https://';
}

function nameFault({ kind, name }: Extract<Action, { name: string }>): string | undefined {
  if (name === '') return 'Enter a header name';
  if (!HEADER_NAME.test(name)) return 'A header name has letters, digits and dashes';
  if (RESERVED.test(name.toLowerCase().replaceAll('_', '-'))) return 'The edge sets this header.';
  if (kind === 'response_header_set' && /^(set[-_]cookie|clear[-_]site[-_]data)/i.test(name))
    return 'Only your service can set cookies.';
  return undefined;
}

/** Roughly: the server also refuses networks with bits set behind the prefix. */
function isNetwork(text: string): boolean {
  const [address = '', prefix, ...more] = text.split('/');
  if (more.length > 0 || (prefix !== undefined && !/^\d{1,3}$/.test(prefix))) return false;
  const bits = Number(prefix ?? 0);
  if (/^\d{1,3}(\.\d{1,3}){3}$/.test(address))
    return address.split('.').every((part) => Number(part) <= 255) && bits <= 32;
  return /^[0-9a-f:.]*:[0-9a-f:.]*$/i.test(address) && bits <= 128;
}

const BEGINNING = 'The policy is invalid: ';
/** `actions.2.path_prefix: must begin with a /`, or with the place of an entry behind the field. */
const AT_ACTION = /^actions\.(\d+)(?:\.([a-z_]+)(?:\.\d+)?)?: (.+)$/;

/** What the server has against a policy, taken apart so that each part stands at the action that it names. */
interface Said {
  readonly faults: Faults;
  /** What belongs to no action; undefined: nothing. */
  readonly rest: string | undefined;
}

/** `message`: of a 400 `bad_policy`. */
export function saidOf(message: string): Said {
  if (!message.startsWith(BEGINNING)) return { faults: new Map(), rest: message };
  const faults = new Map<string, string>();
  const rest: string[] = [];
  for (const part of message.slice(BEGINNING.length).replace(/\.$/, '').split('; ')) {
    const [, index, field = 'kind', why] = AT_ACTION.exec(part) ?? [];
    if (index === undefined || why === undefined) rest.push(part);
    else faults.set(placeOf(Number(index), field), why);
  }
  return { faults, rest: rest.length === 0 ? undefined : `${BEGINNING}${rest.join('; ')}.` };
}
