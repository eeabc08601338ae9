/** The state of a domain and its next step. Pure: tested without a browser. */
import type { Schemas } from '../../api/types.ts';
import type { Tone } from '../../parts/tone.ts';

export type Domain = Schemas['Domain'];
type Certificate = NonNullable<Domain['certificate']>;

export interface Said {
  readonly tone: Tone;
  readonly words: string;
}

/** For the head of a domain: the first thing that is missing. */
export function stateOf(domain: Domain): Said {
  if (!domain.verified) return { tone: 'warn', words: 'Not verified' };
  if (domain.boundTunnelId === null) return { tone: 'info', words: 'No tunnel' };
  if (domain.certificate?.state === 'failed') return { tone: 'bad', words: 'No certificate' };
  return { tone: 'good', words: 'Active' };
}

/** What the badge of a certificate says. */
export function certificateSaid({ state, lastError }: Certificate): Said {
  if (state === 'valid')
    return lastError === null ? { tone: 'good', words: 'Valid' } : { tone: 'warn', words: 'Valid' };
  if (state === 'failed') return { tone: 'bad', words: 'Failed' };
  return state === 'pending' ? { tone: 'info', words: 'Pending' } : { tone: 'quiet', words: 'None' };
}

/** True while something is under way that ends by itself in seconds. */
export function isMoving({ certificate }: Domain): boolean {
  return certificate?.state === 'pending';
}

/** A record that leads visitors to the edge. */
export interface Pointer {
  readonly type: 'CNAME';
  readonly name: string;
  readonly value: string;
}

/**
 * `host`: of the tunnel that answers for it, which leads to the edge for certain; the edge's own domain while there is none. Undefined where
 * neither is a name that the DNS knows.
 */
export function pointerOf({ domain }: Domain, host: string): Pointer | undefined {
  if (host === 'localhost' || host.endsWith('.localhost')) return undefined;
  return { type: 'CNAME', name: domain, value: host };
}

/** Of a public address of HTTP; undefined for one of TCP, which answers for no domain. */
export function hostOf(publicUrl: string): string | undefined {
  return /^https?:\/\//.test(publicUrl) ? new URL(publicUrl).hostname : undefined;
}
