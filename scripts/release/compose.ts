/** The Compose file of a release. */
import { type Release, TEST_NOTE } from './contents.ts';

/** The image has no shell and a read-only root; native addons are unpacked to /tmp, which must allow programs. */
export function composeFile({ version, isTest }: Release): string {
  const note = isTest ? TEST_NOTE.trim().replace(/^/gm, '# ') : '';
  return `${note === '' ? '' : `${note}\n`}# docker load < culvert-${version}-image-linux-x64.tar; write culvert.toml with data_dir = "/data"; docker compose up -d
services:
  culvert:
    image: culvert:${version}
    ports: ["80:8080", "443:8443", "7443:7443", "127.0.0.1:9090:9090"]
    volumes: ["./culvert.toml:/etc/culvert/culvert.toml:ro", "data:/data"]
    tmpfs: ["/tmp:exec,mode=1777"]
    read_only: true
    cap_drop: [ALL]
    security_opt: ["no-new-privileges:true"]
    stop_grace_period: 45s
    restart: unless-stopped
volumes: { data: {} }
`;
}
