/** One certificate from order to chain (RFC 8555 §7.4): checks the names, proves them, sends the signing request, checks what comes back. */
import { isHostName } from '../../../base/net/addr.ts';
import type { Clock } from '../../../base/clock.ts';
import type { Logger } from '../../../base/log.ts';
import { AcmeError, type AcmeOrder } from './contract.ts';
import { type Order, readObject, readOrder } from './answers.ts';
import { type CheckedChain, checkChain } from './chain.ts';
import { plainName, proveNames } from './challenges.ts';
import { oneLine } from './problem.ts';
import type { Session } from './session.ts';
import { makeSigningRequest } from './signing-request.ts';
import type { Reply } from './transport.ts';

const MAX_NAMES = 100;
const CHAIN_TYPE = 'application/pem-certificate-chain';

export interface Issuing {
  readonly session: Session;
  readonly accountUrl: string;
  readonly thumbprint: string;
  readonly order: AcmeOrder;
  /** RFC 9773 §5, of the certificate that is replaced; only for an authority that knows it. */
  readonly replaces: string | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  readonly patience: () => AbortSignal;
}

export interface Issued extends CheckedChain {
  /** PKCS#8 PEM. */
  readonly key: string;
}

export async function issueCertificate(issuing: Issuing): Promise<Issued> {
  const { session, order, clock } = issuing;
  const { names } = order;
  checkNames(order);
  const placed = await placeOrder(issuing);
  const url = session.locationOf(placed);
  const { authorizations } = readOrder(placed);
  // One per name; a wildcard and its base are two.
  if (authorizations.length > names.length)
    throw new AcmeError('bad_answer', 'the authority requires more validations than the order has names');
  await proveNames(issuing, authorizations);
  const signal = issuing.patience();
  const ready = await session.poll(url, {
    signal,
    waitsFor: 'the order to be ready',
    read: (reply) => orderPast(reply, ['pending']),
  });
  if (ready.status !== 'ready')
    throw new AcmeError(
      'bad_answer',
      `the order has the status "${oneLine(ready.status, 40)}" before it was finalized`,
    );
  const { csr, key } = await makeSigningRequest(names);
  await session.post(ready.finalize, { csr }, signal);
  const { certificate } = await session.poll(url, {
    signal,
    waitsFor: 'the certificate',
    read: (reply) => orderPast(reply, ['pending', 'ready', 'processing']),
  });
  if (certificate === undefined) throw new AcmeError('bad_answer', "the authority's order has no certificate");
  const reply = await session.post(certificate, null, signal);
  const type = reply.headers['content-type'] ?? 'none';
  if (!type.toLowerCase().startsWith(CHAIN_TYPE)) {
    throw new AcmeError('bad_answer', `the authority sent no certificate: its content type is ${oneLine(type, 60)}`);
  }
  return { ...checkChain(reply.body, { key, names, nowMs: clock.now() }), key };
}

function checkNames({ names, challenge }: AcmeOrder): void {
  if (names.length === 0 || names.length > MAX_NAMES)
    throw refused(`a certificate has 1 to ${MAX_NAMES} names, not ${names.length}`);
  for (const name of names) {
    if (!isHostName(plainName(name)) || name !== name.toLowerCase())
      throw refused(`${oneLine(name)} is not a valid certificate name`);
    if (name.startsWith('*.') && challenge !== 'dns-01') {
      throw refused(
        `${name} can be validated with dns-01 only: set acme.challenge to "dns-01", with a program in acme.dns_hook`,
      );
    }
  }
  if (new Set(names).size !== names.length) throw refused('a certificate has the same name twice');
}

function refused(message: string): AcmeError {
  return new AcmeError('rejectedIdentifier', message);
}

/** Refusals that leaving out what is replaced would not change. */
const ABOUT_OTHER_THINGS: ReadonlySet<string> = new Set([
  'network',
  'timeout',
  'aborted',
  'bad_answer',
  'rateLimited',
  'serverInternal',
  'accountDoesNotExist',
  'unauthorized',
  'rejectedIdentifier',
]);

/** Throws `accountDoesNotExist` also when the account is there and closed: nothing but a new one helps. */
async function placeOrder(issuing: Issuing): Promise<Reply> {
  try {
    return await placeOnce(issuing);
  } catch (error) {
    const isRefused = error instanceof AcmeError && error.code === 'unauthorized';
    if (!isRefused || !(await isClosed(issuing))) throw error;
    throw new AcmeError(
      'accountDoesNotExist',
      `${error.message} (the ACME account is closed; the server creates a new one)`,
    );
  }
}

/** A closed account is refused, or says what it is (RFC 8555 §7.3.6). */
async function isClosed({ session, accountUrl, patience }: Issuing): Promise<boolean> {
  try {
    return readObject(await session.post(accountUrl, null, patience()), 'account')['status'] !== 'valid';
  } catch (error) {
    return error instanceof AcmeError && error.code === 'unauthorized';
  }
}

async function placeOnce({ session, order, replaces, log, patience }: Issuing): Promise<Reply> {
  const { newOrder } = session.directory;
  const identifiers = order.names.map((value) => ({ type: 'dns', value }));
  if (replaces === undefined) return session.post(newOrder, { identifiers }, patience());
  try {
    return await session.post(newOrder, { identifiers, replaces }, patience());
  } catch (error) {
    // The certificate may be another authority's or another account's, forgotten, or replaced already: that need not stop the renewal.
    if (!(error instanceof AcmeError) || ABOUT_OTHER_THINGS.has(error.code)) throw error;
    log.debug({ error: error.message }, 'an order is placed without saying what it replaces');
    return session.post(newOrder, { identifiers }, patience());
  }
}

/** The order once it is in none of these states; undefined until then. An order that failed throws. */
function orderPast(reply: Reply, states: readonly string[]): Order | undefined {
  const order = readOrder(reply);
  if (order.status === 'invalid') {
    const said = order.problem?.text ?? '';
    throw new AcmeError(
      order.problem?.code ?? 'bad_answer',
      `the authority rejected the order${said === '' ? '' : `: ${said}`}`,
    );
  }
  return states.includes(order.status) ? undefined : order;
}
