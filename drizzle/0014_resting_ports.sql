CREATE TABLE `resting_ports` (
	`transport` text NOT NULL,
	`port` integer NOT NULL,
	`org_id` text,
	`freed_at` integer NOT NULL,
	PRIMARY KEY(`transport`, `port`),
	FOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
-- `max` picks the row that the other columns are of: the last owner.
INSERT INTO `resting_ports` (`transport`, `port`, `org_id`, `freed_at`)
	SELECT 'tcp', `tcp_port`, `org_id`, max(`deleted_at`) FROM `tunnels`
	WHERE `deleted_at` IS NOT NULL AND `tcp_port` IS NOT NULL GROUP BY `tcp_port`;
--> statement-breakpoint
INSERT INTO `resting_ports` (`transport`, `port`, `freed_at`) SELECT 'udp', `port`, `freed_at` FROM `resting_udp_ports`;
--> statement-breakpoint
DROP TABLE `resting_udp_ports`;--> statement-breakpoint
DROP INDEX `tunnels_freed_port`;