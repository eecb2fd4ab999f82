import type { Command } from 'commander';
import type { Shell } from '../cli.ts';
import { addInitCommand } from './init.ts';
import { addServeCommand } from './serve.ts';
import { addStatusCommand } from './status.ts';
import { addValidateCommand } from './validate.ts';

export function addVmcpCommands(program: Command, shell: Shell): void {
  const vmcp = program.command('vmcp').description('serve the MCP servers of a group as one');
  addServeCommand(vmcp, shell);
  addStatusCommand(vmcp, shell);
  addInitCommand(vmcp, shell);
  addValidateCommand(vmcp, shell);
}
