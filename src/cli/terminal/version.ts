/**
 * The version of this program, for those who say it: help, hello, log, `culvert version`.
 */
import { buildInfo } from '../../base/process/version.ts';

export const VERSION: string = buildInfo().version;
