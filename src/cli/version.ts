/**
 * The version of this program, from package.json (put into the bundle at build time).
 */
import manifest from '../../package.json' with { type: 'json' };

export const VERSION: string = manifest.version;
