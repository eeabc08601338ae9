/** `culvert admin certificates`: what the server got by ACME or could not get, and asking for one now. */
import { z } from 'zod';
import { usageError } from './exit.ts';
import { print, writeLine } from './io.ts';
import { type Asked, operatorCommand, printList } from './operator.ts';
import { harmless } from './paint.ts';

const certificate = z.looseObject({
  name: z.string(),
  state: z.string(),
  expiresAt: z.string().nullable(),
  lastError: z.string().nullable(),
  failures: z.int(),
  nextAttemptAt: z.string().nullable(),
});

/** The list, or with `renew NAME` the asking. */
export const certificates = operatorCommand((asked) => {
  const [deed, name] = asked.args;
  if (deed === undefined) return list(asked);
  if (deed !== 'renew')
    throw usageError(`there is no command "admin certificates ${deed}": write "renew NAME", or nothing for the list`);
  if (name === undefined || ['', '.', '..'].includes(name)) {
    throw usageError('a certificate to renew has a name: "culvert admin certificates renew shop.example.com"');
  }
  return renew(asked, name);
});

async function list(asked: Asked): Promise<void> {
  await printList(asked, {
    path: '/superadmin/certificates',
    filter: {},
    schema: certificate,
    cursorOf: (row) => row.name,
    columns: {
      name: (row) => row.name,
      state: (row) => row.state,
      until: (row) => minuteOf(row.expiresAt),
      next: (row) => minuteOf(row.nextAttemptAt),
      failures: (row) => String(row.failures),
      'last error': (row) => row.lastError ?? '',
    },
  });
  if (!asked.usesAcme)
    writeLine(asked.io.stderr, 'Certificates do not come by ACME here: set edge.tls.mode = "acme" for that.');
}

async function renew({ operator, io }: Asked, name: string): Promise<void> {
  const answer = await operator.call('POST', `/superadmin/certificates/${encodeURIComponent(name)}/renew`);
  const { state, lastError } = certificate.parse(answer);
  const words =
    state === 'failed' ? `not asked for: ${lastError ?? 'see the list'}` : 'asked for; the list shows what comes of it';
  await print(io.stdout, harmless(`${name}: ${words}`));
}

function minuteOf(instant: string | null): string {
  return instant === null ? '' : `${instant.slice(0, 16)}Z`;
}
