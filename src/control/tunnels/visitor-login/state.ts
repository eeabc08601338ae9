/**
 * The state of a visitor's sign-in: made at its start, carried sealed by the browser that started it, and good once. Nothing is stored for a
 * start, so that strangers who start a million fill no table.
 */
import { createHash, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { isSameText } from '../../../plane/visitor-tokens.ts';
import type { Sealer } from '../../core/secrets/sealing.ts';

/** Time for a person to log in at the provider, with a second factor there. */
export const VISITOR_STATE_SECONDS = 600;
const PURPOSE = 'visitor_state';

const visitorState = z.object({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  tunnelId: z.string(),
  /** Of the gate that was asked for. */
  version: z.string(),
  /** Where it ends: see Landing. */
  host: z.string(),
  origin: z.string(),
  path: z.string(),
  /** SHA-256 of what the tunnel's host gave this browser, or "". */
  nonceHash: z.string(),
  again: z.boolean(),
  /** Milliseconds. */
  expiresAt: z.number(),
});

export type VisitorState = Readonly<z.output<typeof visitorState>>;

/** What a browser comes back with: its cookie, and the state that the provider sends back. */
export interface ShownState {
  readonly sealed: string;
  readonly state: string;
}

export function makeVisitorState(
  input: Omit<VisitorState, 'state' | 'nonce' | 'verifier' | 'expiresAt'>,
  now: number,
): VisitorState {
  const random = (): string => randomBytes(32).toString('base64url');
  const expiresAt = now + VISITOR_STATE_SECONDS * 1000;
  return { ...input, state: random(), nonce: random(), verifier: random(), expiresAt };
}

export function sealVisitorState(sealer: Sealer, state: VisitorState): string {
  return sealer.seal(PURPOSE, Buffer.from(JSON.stringify(state)));
}

/** What this browser started under this `state`; undefined unless both fit and it has not run out. */
export function openVisitorState(sealer: Sealer, shown: ShownState, now: number): VisitorState | undefined {
  const opened = openedState(sealer, shown);
  return opened !== undefined && opened.expiresAt > now ? opened : undefined;
}

/** Where a sign-in that this browser started was to end, also one that has run out. Undefined unless both fit. */
export function landingOfState(sealer: Sealer, shown: ShownState): Pick<VisitorState, 'origin' | 'path'> | undefined {
  return openedState(sealer, shown);
}

function openedState(sealer: Sealer, shown: ShownState): VisitorState | undefined {
  let opened: VisitorState;
  try {
    opened = visitorState.parse(JSON.parse(sealer.open(PURPOSE, shown.sealed).toString()));
  } catch {
    // Not sealed by this server: whatever is wrong with it, the answer is the same.
    return undefined;
  }
  return isSameText(opened.state, shown.state) ? opened : undefined;
}

/** Under this id a state is spent. */
export function spentVisitorId({ state }: VisitorState): string {
  return `${PURPOSE}/${createHash('sha256').update(state).digest('hex')}`;
}
