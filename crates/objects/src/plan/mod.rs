//! What becomes of every object of the inputs. The plan holds the places of keys; no object is read for it.

mod model;
mod planner;
mod soundness;

pub use model::{Action, NamedObject, ObjectLocation, ObjectPlan, OutputDirectory};
pub use planner::{plan_objects, plan_objects_with, plan_sound_objects};
pub use soundness::refuse_damage_in;
