/** `culvert admin certificates`: lists certificates from ACME, or requests one now. */
import { z } from 'zod';
import { usageError } from '../terminal/exit.ts';
import { print, writeLine } from '../terminal/io.ts';
import { type Asked, operatorCommand, printList } from './operator.ts';
import { harmless } from '../terminal/paint.ts';

const certificate = z.looseObject({
  name: z.string(),
  state: z.string(),
  expiresAt: z.string().nullable(),
  lastError: z.string().nullable(),
  failures: z.int(),
  nextAttemptAt: z.string().nullable(),
});

export const certificates = operatorCommand((asked) => {
  const [action, name] = asked.args;
  if (action === undefined) return list(asked);
  if (action !== 'renew')
    throw usageError(
      `there is no command "admin certificates ${action}". Use "renew NAME", or no argument for the list`,
    );
  if (name === undefined || ['', '.', '..'].includes(name)) {
    throw usageError('renew: needs a name, for example: culvert admin certificates renew shop.example.com');
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
    writeLine(asked.io.stderr, 'ACME is off on this server. Set edge.tls.mode = "acme" to turn it on.');
}

async function renew({ operator, io }: Asked, name: string): Promise<void> {
  const answer = await operator.call('POST', `/superadmin/certificates/${encodeURIComponent(name)}/renew`);
  const { state, lastError } = certificate.parse(answer);
  const words =
    state === 'failed' ? `not requested: ${lastError ?? 'see the list'}` : 'requested; the list shows the result';
  await print(io.stdout, harmless(`${name}: ${words}`));
}

function minuteOf(instant: string | null): string {
  return instant === null ? '' : `${instant.slice(0, 16)}Z`;
}
