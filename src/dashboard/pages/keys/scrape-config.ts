/** What goes into prometheus.yml. Pure. */

/** `server`: address of the API, with a slash at its end. */
export function scrapeConfig(server: URL): string {
  return [
    'scrape_configs:',
    '  - job_name: culvert-tunnels',
    `    scheme: ${server.protocol.replace(':', '')}`,
    `    metrics_path: ${server.pathname}metrics/prometheus`,
    '    authorization: { credentials_file: /etc/prometheus/culvert.key }',
    `    static_configs: [{ targets: ["${server.host}"] }]`,
  ].join('\n');
}
