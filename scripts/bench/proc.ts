/**
 * Reads processor time and memory of processes, and the load of the machine, from /proc. Used by every measurement;
 * starts and stops nothing.
 */
import { readdirSync, readFileSync } from 'node:fs';

/** USER_HZ is 100 on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;

interface Stat {
  readonly seconds: number;
  /** Seconds of children that this process has waited for. */
  readonly childSeconds: number;
  readonly startTicks: number;
  readonly nice: number;
}

/** One process's line in /proc, or undefined when it is gone. */
export function readStat(pid: number | 'self'): Stat | undefined {
  return parseStat(readProc(`/proc/${pid}/stat`));
}

function parseStat(line: string | undefined): Stat | undefined {
  if (line === undefined) return undefined;
  // The name is in brackets and may hold blanks: the numbers begin behind the last bracket, with field 3.
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
  const field = (number: number): number => Number(fields[number - 3]);
  return {
    seconds: (field(14) + field(15)) / TICKS_PER_SECOND,
    childSeconds: (field(16) + field(17)) / TICKS_PER_SECOND,
    startTicks: field(22),
    nice: field(19),
  };
}

/** The process and all its descendants that live now. */
export function processTree(pid: number): number[] {
  const found = [pid];
  for (const task of listTasks(pid)) {
    const children = readProc(`/proc/${pid}/task/${task}/children`) ?? '';
    for (const child of children.split(' ')) {
      if (child.trim() !== '') found.push(...processTree(Number(child)));
    }
  }
  return found;
}

/** Processor seconds of each thread of a process, and its priority. */
export function threadTimes(pid: number): { readonly tid: number; readonly seconds: number; readonly nice: number }[] {
  return listTasks(pid).flatMap((task) => {
    const stat = parseStat(readProc(`/proc/${pid}/task/${task}/stat`));
    return stat === undefined ? [] : [{ tid: Number(task), seconds: stat.seconds, nice: stat.nice }];
  });
}

/** Processor seconds (user and system) that a process and its descendants have used. */
export function treeSeconds(pid: number): number {
  return processTree(pid).reduce((sum, each) => sum + (readStat(each)?.seconds ?? 0), 0);
}

/** Resident memory of a process and its descendants, in kilobytes (1024 bytes). */
export function residentKb(pid: number): number {
  return processTree(pid).reduce((sum, each) => {
    const match = /VmRSS:\s+(\d+)/.exec(readProc(`/proc/${each}/status`) ?? '');
    return sum + Number(match?.[1] ?? 0);
  }, 0);
}

/** Processor time of the whole machine since it started, by what it went to, in seconds over all processors. */
export interface MachineTime {
  readonly total: number;
  readonly idle: number;
  /** Taken away by the host of a virtual machine. */
  readonly steal: number;
}

export function machineTime(): MachineTime {
  const first = (readProc('/proc/stat') ?? '').split('\n')[0] ?? '';
  const numbers = first
    .split(/\s+/)
    .slice(1)
    .map((ticks) => Number(ticks) / TICKS_PER_SECOND);
  // user nice system idle iowait irq softirq steal; the two guest fields after them are in user already
  const total = numbers.slice(0, 8).reduce((sum, each) => sum + each, 0);
  return { total, idle: (numbers[3] ?? 0) + (numbers[4] ?? 0), steal: numbers[7] ?? 0 };
}

function listTasks(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return []; // ended meanwhile
  }
}

function readProc(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined; // ended meanwhile
  }
}
