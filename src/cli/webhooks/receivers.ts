/** `culvert webhooks create`, `secret` and `delete`: receivers themselves. What comes to them is in webhooks.ts. */
import { apiCommand, printDone } from '../client/api-command.ts';
import { readSecret } from '../client/secret.ts';
import { confirm } from '../terminal/confirm.ts';
import { usageError } from '../terminal/exit.ts';
import { textFlag } from '../terminal/flags.ts';
import { WEBHOOK_KINDS } from '../../signatures/kinds.ts';
import { pathOf, type Receiver, receiver } from './items.ts';
import { findReceiver } from './webhooks.ts';

const SOURCES = { flag: 'secretFile', variable: 'CULVERT_WEBHOOK_SECRET', label: 'Secret' } as const;

export const webhooksCreate = apiCommand(async (asked) => {
  const validator = textFlag(asked.flags, 'validator');
  if (validator === undefined) throw usageError(`needs --validator: ${WEBHOOK_KINDS.join(', ')}`);
  const body = { name: asked.args[0] ?? '', validator, secret: await readSecret(asked, SOURCES) };
  const answer = await asked.call('POST', '/webhook-receivers', body);
  const made = receiver.parse(answer);
  await printDone(
    asked,
    answer,
    `${made.name}: created. Enter this URL at the sender: ${made.url}${verifyToken(made)}`,
  );
});

export const webhooksSecret = apiCommand(async (asked) => {
  const found = await findReceiver(asked);
  const answer = await asked.call('PATCH', pathOf(found.id), { secret: await readSecret(asked, SOURCES) });
  await printDone(asked, answer, `${found.name}: secret changed. Deliveries signed with the old one are rejected`);
});

export const webhooksDelete = apiCommand(async (asked) => {
  const found = await findReceiver(asked);
  await confirm(asked.io, asked.flags, `Delete the receiver ${found.name} with its deliveries (${found.stored})?`);
  const answer = await asked.call('DELETE', pathOf(found.id));
  await printDone(asked, answer, `${found.name}: deleted`);
});

/** Meta signs as GitHub does, and checks the URL with this. */
function verifyToken({ validator, verify_token: token }: Receiver): string {
  return validator === 'github' && token !== undefined ? ` (verify token for Meta: ${token})` : '';
}
