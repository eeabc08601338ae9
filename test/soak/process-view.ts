/** What the system says about a process: memory and open files, from /proc. */
import { readdirSync, readFileSync } from 'node:fs';

export interface ProcessView {
  readonly rssMb: number;
  readonly files: number;
}

export function viewOf(pid: number): ProcessView {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return {
    rssMb: Math.round(Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) / 1024),
    files: readdirSync(`/proc/${pid}/fd`).length,
  };
}
