/**
 * `--webhook-verify`: a request must be signed as its kind of sender signs, with one of the agent's secrets. The same schemes as those of webhook
 * receivers (src/signatures). Refused before its body is read where the head alone says enough. Checks of the URL are answered here.
 */
import type { WebhookGate } from '../../../plane/narrowing.ts';
import { isWebhookKind, type WebhookKind } from '../../../signatures/kinds.ts';
import type { Incoming, Reply } from '../../../signatures/scheme.ts';
import { describe, findFault } from '../../../signatures/validators.ts';
import type { EdgeRefusal } from '../../faults/fault.ts';
import type { PolicyRequest, Step, Verdict } from '../step.ts';
import { incomingOf } from './incoming.ts';

/** Checks of URLs are small; what is longer is not parsed to find out. */
const MAX_CHALLENGE_BYTES = 16_384;
const NOTHING = Buffer.alloc(0);
/** Senders get the same response whatever was wrong. */
const REFUSED: EdgeRefusal = { code: 'invalid_signature' };

/** `now`: milliseconds. Undefined: this node does not know the kind. */
export function webhookStep(gate: WebhookGate, orgId: string, now: () => number = Date.now): Step | undefined {
  const { kind, secrets } = gate;
  if (!isWebhookKind(kind)) return undefined;
  const verdictOf = (incoming: Incoming): Verdict => {
    if (findFault(kind, incoming, { secrets, now: now() }) !== null) return REFUSED;
    const challenge = challengeIn(kind, incoming);
    return challenge === null ? null : answer(challenge);
  };
  return {
    decidesLater: true,
    decide: (request: PolicyRequest): Verdict | Promise<Verdict> => {
      const { chunked, contentLength } = request.head;
      const head = incomingOf(request);
      const incoming = { ...head, body: NOTHING };
      if (!chunked && contentLength <= 0) return verdictOf(incoming);
      // Of these two the body changes nothing.
      const fault = findFault(kind, incoming, { secrets, now: now() });
      if (fault === 'signature_missing' || fault === 'signature_too_old') return REFUSED;
      return request.body
        .read([orgId, request.clientKey])
        .then((body) => (Buffer.isBuffer(body) ? verdictOf({ ...head, body }) : body));
    },
  };
}

function challengeIn(kind: WebhookKind, incoming: Incoming): Reply | null {
  return incoming.body.length > MAX_CHALLENGE_BYTES ? null : describe(kind, incoming).challenge;
}

function answer({ body }: Reply): EdgeRefusal {
  return { code: 'webhook_challenge', detail: body === null ? '' : JSON.stringify(body) };
}
