/** `/download/`: the program for other machines, open to everyone who reaches the API. No secret is on it. */
import type { Slice } from '../core/slice.ts';
import { mountDownloads } from './routes.ts';
import { Downloads, type ReleaseOptions } from './service.ts';

/** Files change when an operator fetches some: this is for those that change by accident, and so that no visitor waits for hashes. */
const VERIFY_EVERY_MS = 300_000;

export interface DownloadOptions {
  readonly releases: ReleaseOptions;
}

export interface DownloadServices {
  readonly downloads: Downloads;
}

export const download: Slice<DownloadServices, DownloadOptions> = {
  name: 'download',
  service: ({ log }, _use, { releases }) => ({ downloads: new Downloads({ ...releases, log }) }),
  routes: (api, { downloads }, { publicUrl }) => mountDownloads(api, { downloads, publicUrl }),
  jobs: ({ downloads }) => [{ name: 'downloads', everyMs: VERIFY_EVERY_MS, run: () => downloads.verify() }],
};
