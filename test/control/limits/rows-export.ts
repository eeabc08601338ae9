/** The rows of the table of limits about exports. */
import { elsewhere, type Row } from './row.ts';

const QUEUE = 'src/control/organizations/export/export-queue.test.ts';

export function exportLimits(): readonly Row[] {
  return [
    elsewhere('Events that wait for a destination', '5,000; newer ones are dropped and counted', [
      QUEUE,
      'export queue: what finds no room is dropped and counted, its own or that of all',
    ]),
    elsewhere(
      'Events that wait for the destinations of all organizations',
      '50,000; then organizations above their equal share drop theirs',
      [QUEUE, 'export queue: dead destinations of others never drop what is within a fair share'],
    ),
  ];
}
