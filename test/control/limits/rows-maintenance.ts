/** The rows of the table of limits about maintenance. */
import { met, type Row } from './row.ts';
import { said } from '../../../src/control/core/testing/team.ts';

export function maintenanceLimits(): readonly Row[] {
  return [
    met<number | undefined>({
      limit: 'Maintenance message',
      value: '500 characters',
      meet: async (fixture, length) => {
        const caller = fixture.caller();
        const made = await caller.call('POST', '/tunnels', { localPort: 3000 });
        const body = length === undefined ? undefined : { message: 'm'.repeat(length) };
        return said(await caller.call('PUT', `/tunnels/${String(made.body['id'])}/maintenance`, body));
      },
      below: [
        [0, [200]],
        [499, [200]],
      ],
      at: [[500, [200]]],
      above: [[501, [400, 'invalid_request']]],
      leftOut: [200],
    }),
  ];
}
