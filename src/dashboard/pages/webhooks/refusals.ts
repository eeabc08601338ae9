/** Why a receiver refuses deliveries, and what to look at then. Pure. */
import { countText } from '../../parts/format.ts';
import { type Receiver, senderOf } from './senders.ts';

type Refused = Receiver['refused'];
export type RefusalReason = NonNullable<Refused['last_reason']>;

const WORDS: Readonly<Record<RefusalReason, string>> = {
  signature_missing: 'no signature',
  signature_wrong: 'wrong signature',
  signature_too_old: 'expired signature',
  too_large: 'too large',
  came_back: 'forwarding loop',
};

/** "wrong signature"; of several "10 × wrong signature, 2 × no signature", the most frequent first. */
export function reasonsText({ by_reason: counts }: Pick<Refused, 'by_reason'>): string {
  const met = Object.entries(counts).filter(([, count]) => count > 0);
  const [only] = met;
  if (met.length === 1 && only !== undefined) return wordsOf(only[0]);
  return met
    .toSorted(([, a], [, b]) => b - a)
    .map(([reason, count]) => `${countText(count)} × ${wordsOf(reason)}`)
    .join(', ');
}

/** What to check at the sender, by the last refusal. */
export function hintFor(reason: RefusalReason, { validator }: Pick<Receiver, 'validator'>): string {
  const { label, isOurs } = senderOf(validator);
  const sender = validator === 'generic_hmac_sha256' ? 'the sender' : label;
  switch (reason) {
    case 'signature_wrong':
      return isOurs
        ? `The secret at ${sender} may differ from this receiver's secret. Set the same new secret at both.`
        : `This receiver's secret may differ from the one at ${sender}. Copy it from ${sender} again and set it here.`;
    case 'signature_missing':
      return `They have no ${sender} signature. Check that a secret is set there, and that this receiver's sender is ${sender}.`;
    case 'signature_too_old':
      return `The time in the signature from ${sender} is more than 5 minutes off this server's clock. Check both clocks, or whether an old delivery was sent again.`;
    case 'too_large':
      return 'The limit is 1 MiB per body. Reduce the payload at the sender.';
    case 'came_back':
      return 'Your service sent a forwarded delivery back to this server, which would loop. To send it as a new delivery, remove the Culvert-Webhook-… headers.';
    default:
      // The server may know one more than this page.
      return '';
  }
}

/** No delivery was accepted since the last refusal: the setup is wrong, or another sender uses the address. */
export function isRefusing({ refused, last_received_at: taken }: Pick<Receiver, 'refused' | 'last_received_at'>) {
  const { last_at: last } = refused;
  return last !== null && (taken === null || Date.parse(last) > Date.parse(taken));
}

/** So few after a good delivery may be an attacker's attempts: the overview does not show them. */
const MANY = 3;

/** A delivery was accepted with this secret, so it was right; other signatures are another sender's, or made with a newer secret. */
export function hasWorked({ refused }: Pick<Receiver, 'refused'>): boolean {
  return refused.since_received !== null;
}

/** How many nothing good has come behind. */
export function refusedSince({ refused }: Pick<Receiver, 'refused'>): number {
  return refused.since_received ?? refused.total;
}

/** Whether it is said elsewhere than on the receiver's own page. */
export function isAlarming(receiver: Pick<Receiver, 'refused' | 'last_received_at'>): boolean {
  return isRefusing(receiver) && (!hasWorked(receiver) || refusedSince(receiver) >= MANY);
}

/** What the last one asks once the receiver has worked: its secret is not the first thing to doubt. */
export function strayHintFor(reason: RefusalReason, receiver: Pick<Receiver, 'validator'>): string {
  const { label } = senderOf(receiver.validator);
  const sender = receiver.validator === 'generic_hmac_sha256' ? 'the sender' : label;
  switch (reason) {
    case 'signature_wrong':
      return `Other deliveries were accepted with this secret, so this one may be from another sender that knows the URL. If the secret changed at ${sender}, set the new one here.`;
    case 'signature_missing':
      return `Other deliveries with signatures from ${sender} were accepted, so this one may be from another sender that knows the URL.`;
    default:
      return hintFor(reason, receiver);
  }
}

export function wordsOf(reason: string): string {
  return (WORDS as Readonly<Record<string, string | undefined>>)[reason] ?? reason.replaceAll('_', ' ');
}
