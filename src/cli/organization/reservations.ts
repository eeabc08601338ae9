/** `culvert reservations`: names that only tunnels of the organization may have. */
import { z } from 'zod';
import { apiCommand, type Asked, printDone, printRows } from '../client/api-command.ts';
import { confirm } from '../terminal/confirm.ts';
import { day, findRow } from './find.ts';

const reservation = z.looseObject({ id: z.string(), subdomain: z.string(), created_at: z.string() });
type Reservation = z.output<typeof reservation>;

export const reservationsList = apiCommand(async (asked) => {
  await printRows(asked, await listReservations(asked), {
    name: (row) => row.subdomain,
    since: (row) => day(row.created_at),
    id: (row) => row.id,
  });
});

export const reservationsCreate = apiCommand(async (asked) => {
  const [name = ''] = asked.args;
  const answer = await asked.call('POST', '/reserved-subdomains', { subdomain: name });
  await printDone(asked, answer, `${name}: reserved for your organization`);
});

export const reservationsDelete = apiCommand(async (asked) => {
  const of = (row: Reservation): string[] => [row.id, row.subdomain];
  const named = { of, what: 'reserved name', list: 'reservations list' };
  const found = findRow(await listReservations(asked), asked.args[0] ?? '', named);
  await confirm(asked.io, asked.flags, `Release the name ${found.subdomain}?`);
  const answer = await asked.call('DELETE', `/reserved-subdomains/${encodeURIComponent(found.id)}`);
  await printDone(asked, answer, `${found.subdomain}: released`);
});

async function listReservations(asked: Asked): Promise<Reservation[]> {
  return reservation.array().parse(await asked.call('GET', '/reserved-subdomains'));
}
