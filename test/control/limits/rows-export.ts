/** The rows of the table of limits about exports and the access log. */
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
    elsewhere(
      'Finished requests that wait for access log and exports',
      '20,000 and 16 MiB; newer ones are dropped and counted',
      [
        'src/data/access-log/access-queue.test.ts',
        'access queue: one batch at a time, and what finds no room is counted',
      ],
      [
        'src/data/access-log/access-queue.test.ts',
        'access queue: long entries are bounded by bytes, and give them back once they are sent',
      ],
    ),
    elsewhere('Rotation of the access log after one that failed', '1 minute later', [
      'src/server/access-log/rotating-file.test.ts',
      'access log file: a rotation that fails is logged once, loses no line, and is tried again after a minute',
    ]),
  ];
}
