/** Work in the data folder by its owner's rights: files that root makes there would lock the server out, and a folder of another user is no safe place for root. */
import { statSync } from 'node:fs';

export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** The owner of a folder when this process is root and the owner is not: undefined otherwise. */
export function otherOwner(folder: string): Owner | undefined {
  const { uid, gid } = statSync(folder);
  return process.geteuid?.() === 0 && uid !== 0 ? { uid, gid } : undefined;
}

/** Does synchronous work as the owner of the folder. */
export function asOwner<T>(folder: string, work: () => T): T {
  const owner = otherOwner(folder);
  const { setgroups, getgroups, setegid, getegid, seteuid } = process;
  if (owner === undefined || !setgroups || !getgroups || !setegid || !getegid || !seteuid) return work();
  const [groups, group] = [getgroups(), getegid()];
  setgroups([owner.gid]);
  setegid(owner.gid);
  seteuid(owner.uid);
  try {
    return work();
  } finally {
    seteuid(0);
    setegid(group);
    setgroups(groups);
  }
}
