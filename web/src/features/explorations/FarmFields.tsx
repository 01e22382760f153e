import type { ClimbStage, NewExploration, Priority } from "@/lib/api/types";

/** What of the farm may be chosen. */
export interface FarmChoices {
  vitis: readonly string[];
  boards: readonly string[];
}

const STAGES: [ClimbStage, string][] = [
  ["csynth", "Synthesised by Vitis HLS"],
  ["cosim", "Simulated as RTL, after their synthesis"],
  ["link", "Placed and routed, after their synthesis"],
  ["measure", "Run on the board; the simulated one needs no link"],
];
const PRIORITIES: Priority[] = ["low", "normal", "high"];
const MOST = 256;

/** The fields below, as the service takes them. */
export function toFarm(form: FormData): Pick<NewExploration, "priority" | "builds" | "vitis" | "board" | "area_model"> {
  const count = (stage: ClimbStage) => Number(form.get(`builds.${stage}`));
  const chosen = (name: string) => String(form.get(name) ?? "") || null;
  return {
    priority: String(form.get("priority")) as Priority,
    builds: { csynth: count("csynth"), cosim: count("cosim"), link: count("link"), measure: count("measure") },
    vitis: chosen("vitis"),
    board: chosen("board"),
    area_model: String(form.get("area_model")) as NewExploration["area_model"],
  };
}

/** How far up the ladder designs go, and with what. */
export function FarmFields({ vitis, boards }: FarmChoices) {
  return (
    <fieldset className="wide farm-fields">
      <legend>Builds: how many designs go further</legend>
      {STAGES.map(([stage, meaning]) => (
        <label key={stage} title={meaning}>
          {stage}
          <input name={`builds.${stage}`} type="number" min={0} max={MOST} defaultValue={0} required />
        </label>
      ))}
      <label className="half">
        Vitis
        <select name="vitis">
          <option value="">{vitis.length ? `newest on the farm (${vitis[0]})` : "newest on the farm (no node has any)"}</option>
          {vitis.map((version) => (
            <option key={version}>{version}</option>
          ))}
        </select>
      </label>
      <label className="half">
        Board
        <select name="board">
          <option value="">simulated</option>
          {boards.filter((board) => board !== "simulated").map((board) => (
            <option key={board}>{board}</option>
          ))}
        </select>
      </label>
      <label className="half">
        Area estimates
        <select name="area_model">
          <option value="shipped">by this release</option>
          <option value="latest">by the newest fit to the farm&apos;s reports</option>
        </select>
      </label>
      <label className="half">
        Priority
        <select name="priority" defaultValue="normal">
          {PRIORITIES.map((priority) => (
            <option key={priority}>{priority}</option>
          ))}
        </select>
      </label>
    </fieldset>
  );
}
