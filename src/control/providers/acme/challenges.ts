/**
 * Proves names to an authority (RFC 8555 §7.5): publishes the answers, has the authority look, waits for its verdict, and takes the answers
 * back whatever happened.
 */
import { createHash } from 'node:crypto';
import type { Logger } from '../../../base/log.ts';
import { messageOf } from '../../../base/errors.ts';
import { AcmeError, type AcmeOrder, type ChallengeAnswer, type ChallengeType } from './contract.ts';
import { type Authorization, type Challenge, readAuthorization } from './answers.ts';
import { oneLine } from './problem.ts';
import type { Session } from './session.ts';
import { abortError } from './transport.ts';

/** What to look at when a name was not proven. */
const ADVICE: Readonly<Record<ChallengeType, (name: string) => string>> = {
  'http-01': (name) => `Make sure that port 80 of ${name} leads to this server and is reachable from the internet.`,
  'tls-alpn-01': (name) =>
    `Make sure that port 443 of ${name} leads to this server and is reachable from the internet, without a TLS proxy in front.`,
  'dns-01': (name) => `Make sure that public DNS returns the TXT record of _acme-challenge.${name}.`,
};

export interface Proof {
  readonly session: Session;
  readonly order: AcmeOrder;
  /** Of the account's key. */
  readonly thumbprint: string;
  readonly log: Logger;
  /** A signal whose time begins now: for talking with the authority, as opposed to waiting for the solver. */
  readonly patience: () => AbortSignal;
}

interface Task {
  /** URL of the authorization. */
  readonly url: string;
  readonly challenge: Challenge;
  readonly answer: ChallengeAnswer;
}

/** Resolves when all authorizations are valid. Throws what the authority says against the first that is not. */
export async function proveNames(proof: Proof, authorizations: readonly string[]): Promise<void> {
  const { order, log } = proof;
  const tasks = await findTasks(proof, authorizations);
  const begun: ChallengeAnswer[] = [];
  // When one can't be published, the others need not be waited for.
  const stop = new AbortController();
  const publishing = AbortSignal.any([order.signal, stop.signal]);
  try {
    await Promise.all(
      tasks.map(async ({ answer }) => {
        begun.push(answer);
        await publish(order, answer, publishing);
      }),
    );
    const signal = proof.patience();
    for (const { challenge } of tasks) await proof.session.post(challenge.url, {}, signal);
    for (const task of tasks) await awaitVerdict(proof, task, signal);
  } finally {
    stop.abort();
    const ends = await Promise.allSettled(begun.map((answer) => order.solver.withdraw(answer)));
    for (const end of ends) {
      if (end.status === 'rejected')
        log.warn({ error: messageOf(end.reason) }, 'could not remove a challenge response');
    }
  }
}

/** What there is to prove: names that this account has proven a while ago need nothing. */
async function findTasks(proof: Proof, urls: readonly string[]): Promise<Task[]> {
  const { session, order } = proof;
  const signal = proof.patience();
  const names = new Set(order.names.map(plainName));
  const tasks: Task[] = [];
  for (const url of urls) {
    const authorization = readAuthorization(await session.post(url, null, signal));
    const { name, status } = authorization;
    if (!names.has(name))
      throw new AcmeError(
        'bad_answer',
        `the authority requires validation of ${oneLine(name)}, which is not part of the order`,
      );
    if (status === 'valid') continue;
    if (status !== 'pending') throw verdictOf(authorization, order.challenge);
    const challenge = authorization.challenges.find(({ type }) => type === order.challenge);
    if (challenge === undefined) {
      const offered = oneLine(authorization.challenges.map(({ type }) => type).join(', ')) || 'nothing';
      throw new AcmeError(
        'challenge_failed',
        `the authority does not offer ${order.challenge} for ${name}. It offers: ${offered}. Set acme.challenge to one of them`,
      );
    }
    if (challenge.token === '')
      throw new AcmeError('bad_answer', `the authority's challenge for ${name} has no usable token`);
    tasks.push({ url, challenge, answer: answerTo(challenge, name, proof) });
  }
  return tasks;
}

function answerTo({ token }: Challenge, name: string, { order, thumbprint }: Proof): ChallengeAnswer {
  const keyAuthorization = `${token}.${thumbprint}`;
  const txtValue = createHash('sha256').update(keyAuthorization).digest('base64url');
  return { type: order.challenge, name, token, keyAuthorization, txtValue };
}

/** Ends with the signal, whether or not the solver looks at it. */
async function publish({ solver }: AcmeOrder, answer: ChallengeAnswer, signal: AbortSignal): Promise<void> {
  const late = `the challenge response for ${answer.name} was not published in time`;
  if (signal.aborted) throw abortError(signal, late);
  const aborted = Promise.withResolvers<never>();
  const onAbort = (): void => aborted.reject(abortError(signal, late));
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    await Promise.race([aborted.promise, solver.publish(answer, signal)]);
  } catch (error) {
    if (error instanceof AcmeError) throw error;
    if (signal.aborted) throw abortError(signal, late);
    throw new AcmeError(
      'challenge_failed',
      `the challenge response for ${answer.name} could not be published: ${oneLine(messageOf(error))}`,
      { cause: error },
    );
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

async function awaitVerdict({ session, order }: Proof, { url, answer }: Task, signal: AbortSignal): Promise<void> {
  await session.poll(url, {
    signal,
    waitsFor: `the validation of ${answer.name}`,
    read: (reply) => {
      const authorization = readAuthorization(reply);
      if (authorization.status === 'pending') return undefined;
      if (authorization.status !== 'valid') throw verdictOf({ ...authorization, name: answer.name }, order.challenge);
      return true;
    },
  });
}

/** What the authority has against an authorization. */
function verdictOf({ name, status, challenges }: Authorization, type: ChallengeType): AcmeError {
  const problem = (challenges.find((one) => one.type === type) ?? challenges[0])?.problem;
  const said =
    problem?.text === undefined || problem.text === ''
      ? `the authority reports the status "${oneLine(status, 40)}"`
      : problem.text;
  return new AcmeError(
    problem?.code ?? 'challenge_failed',
    `the ${type} challenge for ${name} failed: ${said}. ${ADVICE[type](name)}`,
  );
}

/** `*.x` is proven by proving `x`. */
export function plainName(name: string): string {
  return name.startsWith('*.') ? name.slice(2) : name;
}
