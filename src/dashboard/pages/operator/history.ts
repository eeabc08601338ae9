/** The server's figures while the page is open: a bounded number of samples, and rates between them. Pure. */
import { byLabel, figure, type Metrics } from './exposition.ts';

/** Six minutes of a sample every three seconds. */
export const MAX_SAMPLES = 120;

export interface Sample {
  /** Unix milliseconds. */
  readonly at: number;
  readonly loopMs: number;
  readonly connections: number;
  readonly streams: number;
  readonly memory: number;
  /** Counters since the start of the server. */
  readonly requests: number;
  readonly bytes: number;
  readonly cpuSeconds: number;
}

export function sampleOf(metrics: Metrics, at: number): Sample {
  return {
    at,
    loopMs: Math.max(0, ...byLabel(metrics, 'culvert_event_loop_delay_p99_seconds', 'thread').values()) * 1000,
    connections: figure(metrics, 'culvert_visitor_connections'),
    streams: figure(metrics, 'culvert_agent_streams'),
    memory: figure(metrics, 'culvert_process_resident_memory_bytes'),
    requests: figure(metrics, 'culvert_node_requests_total'),
    bytes: figure(metrics, 'culvert_node_bytes_in_total') + figure(metrics, 'culvert_node_bytes_out_total'),
    cpuSeconds: figure(metrics, 'culvert_process_cpu_seconds_total'),
  };
}

/** The oldest goes when there is no more room; a server that began anew begins anew here too. */
export function withSample(samples: readonly Sample[], next: Sample): readonly Sample[] {
  const last = samples.at(-1);
  if (last !== undefined && next.cpuSeconds < last.cpuSeconds) return [next];
  return [...samples.slice(-(MAX_SAMPLES - 1)), next];
}

/** How much a counter grew per second, between each sample and the one before it. */
export function ratesOf(samples: readonly Sample[], counter: 'requests' | 'bytes' | 'cpuSeconds'): readonly number[] {
  return samples.slice(1).map((sample, index) => {
    const before = samples[index];
    if (before === undefined || sample.at <= before.at) return 0;
    return Math.max(0, sample[counter] - before[counter]) / ((sample.at - before.at) / 1000);
  });
}
