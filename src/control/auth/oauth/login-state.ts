/**
 * The state of a log-in with an identity provider: made at its start, carried sealed by the browser that started it, and good once. Nothing
 * is stored for a start, so that strangers who start a million log-ins fill no table.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { Sealer } from '../../core/secrets/sealing.ts';

/** Time for a person to log in at the provider, with a second factor there. */
export const STATE_SECONDS = 600;
const PURPOSE = 'oauth_state';

const loginState = z.object({
  provider: z.string(),
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  returnTo: z.string(),
  /** Milliseconds. */
  expiresAt: z.number(),
});

export type LoginState = Readonly<z.output<typeof loginState>>;

/** Three values of 32 random bytes: against forged answers, replayed ID tokens, and stolen codes. */
export function makeState(input: { provider: string; returnTo: string }, now: number): LoginState {
  const random = (): string => randomBytes(32).toString('base64url');
  return { ...input, state: random(), nonce: random(), verifier: random(), expiresAt: now + STATE_SECONDS * 1000 };
}

export function sealState(sealer: Sealer, state: LoginState): string {
  return sealer.seal(PURPOSE, Buffer.from(JSON.stringify(state)));
}

/** What this browser started under this `state`; undefined unless all of it fits and it has not run out. */
export function openState(
  sealer: Sealer,
  shown: { readonly sealed: string; readonly state: string; readonly provider: string },
  now: number,
): LoginState | undefined {
  let opened: LoginState;
  try {
    opened = loginState.parse(JSON.parse(sealer.open(PURPOSE, shown.sealed).toString()));
  } catch {
    // Not sealed by this server: whatever is wrong with it, the answer is the same.
    return undefined;
  }
  if (opened.expiresAt <= now || opened.provider !== shown.provider) return undefined;
  return timingSafeEqual(digest(opened.state), digest(shown.state)) ? opened : undefined;
}

/** Under this id a state is spent. */
export function spentId(state: LoginState): string {
  return `${PURPOSE}/${digest(state.state).toString('hex')}`;
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
