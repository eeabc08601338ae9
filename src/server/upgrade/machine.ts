/** The system that an upgrade works on. One argument, so that tests can play it. */
export interface Machine {
  /** `/`, or the folder that a test takes for it. */
  readonly root: string;
  /** For commands of the system: systemctl, dpkg-query, rpm. */
  readonly env: NodeJS.ProcessEnv;
  /** After a restart, until the server counts as started. */
  readonly settleMs: number;
}
