/** The end of a setup: the server is up, its certificate is there, and the owner gets a link. */
import { z } from 'zod';
import { codeOf, messageOf } from '../../base/errors.ts';
import type { Settings } from '../../config/schema.ts';
import { findRunning, type Operator } from '../../server/admin.ts';
import { localOf } from '../checks/port-check.ts';
import type { Place, System } from '../checks/system.ts';
import { type Io, writeLine } from '../terminal/io.ts';
import { harmless } from '../terminal/paint.ts';

const START_MS = 60_000;
const START_LOOK_MS = 500;
const CERTIFICATE_MS = 180_000;
const CERTIFICATE_LOOK_MS = 2_000;
/** How often the wait says that it goes on. */
const SAY_MS = 10_000;

/** The server once it answers; undefined when it does not within a minute. */
export async function untilRunning(io: Io, dataDir: string): Promise<Operator | undefined> {
  for (let waited = 0; ; waited += START_LOOK_MS) {
    const operator = await findRunning(dataDir);
    if (operator !== undefined || waited >= START_MS) return operator;
    await io.pause(START_LOOK_MS);
  }
}

/** The listener that shows the certificate of the dashboard; undefined: TLS ends elsewhere, or the server waits for none. */
export function certificatePlace({ api, edge }: Settings): Place | undefined {
  if (edge.tls.mode !== 'acme' || !api.public_url.startsWith('https:')) return undefined;
  const at = api.tls ? api.listen : edge.https_listen;
  return at === null ? undefined : { host: localOf(at.host), port: at.port };
}

export type Waited = { readonly expiresAt: number } | { readonly reason: string };

/** Asks for the certificate by a handshake, as the first visitor would, until it is there; says how long and why it waits. */
export async function untilCertificate(
  io: Io,
  { system, at, host, operator }: { system: Pick<System, 'handshake'>; at: Place; host: string; operator: Operator },
): Promise<Waited> {
  let reason = 'the server shows none';
  for (let waited = 0; waited < CERTIFICATE_MS; waited += CERTIFICATE_LOOK_MS) {
    try {
      const shown = await system.handshake(at, host);
      if (shown.isForHost && !shown.isSelfSigned) return { expiresAt: shown.expiresAt };
    } catch (error) {
      reason = codeOf(error) ?? messageOf(error);
    }
    if (waited % SAY_MS === 0) {
      reason = (await lastError(operator, host)) ?? reason;
      writeLine(io.stdout, harmless(`  waiting for the certificate of ${host}, ${waited / 1_000} s (${reason})`));
    }
    await io.pause(CERTIFICATE_LOOK_MS);
  }
  return { reason: (await lastError(operator, host)) ?? reason };
}

const list = z.array(z.looseObject({ name: z.string(), lastError: z.string().nullable() }));

async function lastError(operator: Operator, host: string): Promise<string | undefined> {
  const rows = list.parse(await operator.call('GET', '/superadmin/certificates?limit=200'));
  return (
    rows.find(({ name, lastError: error }) => error !== null && (name === host || name.startsWith('*.')))?.lastError ??
    undefined
  );
}

const users = z.array(z.looseObject({ email: z.string(), password_pending: z.boolean() }));
const link = z.object({ url: z.string(), expires_at: z.string() });

export type OwnerLink =
  | { readonly kind: 'link'; readonly url: string; readonly expiresAt: string }
  /** They have a password, or have logged in. */
  | { readonly kind: 'done' }
  | { readonly kind: 'missing' };

/** A link that sets the owner's password, good once; none for an owner who has one. */
export async function ownerLink(operator: Operator, email: string): Promise<OwnerLink> {
  const found = users.parse(
    await operator.call('GET', `/superadmin/users?query=${encodeURIComponent(email)}&limit=200`),
  );
  const owner = found.find((one) => one.email.toLowerCase() === email.toLowerCase());
  if (owner === undefined) return { kind: 'missing' };
  if (!owner.password_pending) return { kind: 'done' };
  const made = link.parse(
    await operator.call('POST', `/superadmin/users/${encodeURIComponent(owner.email)}/password-link`),
  );
  return { kind: 'link', url: made.url, expiresAt: made.expires_at };
}
