#!/usr/bin/env node
/**
 * The program: argv in, exit code out. The only process.exit.
 */
import { processIo } from './cli/terminal/io.ts';
import { runProgram } from './cli/program.ts';

process.exit(await runProgram(process.argv.slice(2), processIo()));
